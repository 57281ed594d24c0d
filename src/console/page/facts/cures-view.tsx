import { AuthorizeButton, InviteButton } from '../parts/authorize-button.tsx'
import { standing } from '../state/standing.ts'
import type { Fact } from './fact.ts'
import { LostActs } from './lost-acts.tsx'

export interface CureProps {
  fact: Pick<Fact, 'action'>
  class?: string | undefined
  /** Whether what never arrived can be made again right here. In a row it has that one button. */
  delivers?: 'row' | 'heading'
}

/** What can be pressed about a fact. */
export function Cure({ fact: { action }, class: className, delivers }: CureProps) {
  if (action?.type === 'authorize') return <AuthorizeButton {...action} class={className} />
  if (action?.type === 'invite') return <InviteButton />
  if (action?.type !== 'destination') return null
  const overview = standing.value?.overview ?? null
  return <LostActs id={action.params['id'] ?? ''} overview={overview} class={className} isBrief={delivers === 'row'} />
}

export { LostActs }
