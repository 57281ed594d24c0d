import { Loaded } from '../frame/loaded.tsx'
import { isFirstLoadOver } from '../state/live.ts'
import type { LostActsProps } from './lost-acts.tsx'

const load = async () => ({ default: (await import('./cures-view.tsx')).LostActs })

/** What can be done about deliveries that never arrived, in the file of all cures, after the first load, which stays light. */
export const LostActs = (props: LostActsProps) =>
  isFirstLoadOver.value ? <Loaded load={load} props={props} around={null} /> : null
