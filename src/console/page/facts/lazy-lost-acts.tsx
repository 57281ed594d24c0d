import { Loaded } from '../frame/loaded.tsx'
import type { LostActsProps } from './lost-acts.tsx'

const load = async () => (await import('./cures-view.tsx')).LostActs

/** What can be done about deliveries that never arrived, in the file of all cures. */
export const LostActs = (props: LostActsProps) => <Loaded load={load} props={props} around={null} />
