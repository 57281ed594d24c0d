import { Loaded } from '../frame/loaded.tsx'
import { isFirstLoadOver } from '../state/live.ts'
import type { LostActsProps } from './lost-acts.tsx'

const load = async () => ({ default: (await import('./cures-view.tsx')).LostActs })

/** The actions for deliveries that never arrived, in the file of all actions, after the first load, which stays small. */
export const LostActs = (props: LostActsProps) =>
  isFirstLoadOver.value && props.destination.neverArrived > 0 ? (
    <Loaded load={load} props={props} around={null} />
  ) : null
