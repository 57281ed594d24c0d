import { AuthorizeButton, InviteButton } from '../parts/authorize-button.tsx'
import { addressOf } from '../state/address.ts'
import { standing } from '../state/standing.ts'
import type { Fact } from './fact.ts'
import { whereOf } from './facts-of.ts'
import { LostActs } from './lost-acts.tsx'

export interface CureProps {
  fact: Pick<Fact, 'action'>
  class?: string | undefined
  /** Whether deliveries that never arrived can be repeated right here. In a row, this is the only button. */
  delivers?: 'row' | 'heading'
}

/** What a person can press about a fact. */
export default function Cure({ fact: { action }, class: className, delivers }: CureProps) {
  // Only Overview, which has the checks, has facts about the gateway itself.
  if (action === null || action.type === 'show checks') return null
  if (action.type === 'link')
    return (
      <a class={className ?? 'button'} href={addressOf(action.view, action.params)}>
        {action.text}
      </a>
    )
  if (action.type === 'authorize') return <AuthorizeButton {...action} class={className} />
  if (action.type === 'invite') return <InviteButton />
  const { destinations = [], to = '' } = standing.value?.overview ?? {}
  const destination = destinations.find((each) => whereOf(each).id === action.params['id'])
  if (delivers !== undefined && destination && destination.neverArrived > 0)
    return <LostActs destination={destination} until={to} class={className} isBrief={delivers === 'row'} />
  return (
    <a class="button" href={addressOf('webhooks', action.params)}>
      Show its deliveries
    </a>
  )
}

export { LostActs }
