import type { OverviewDestination } from '../../../client/client.ts'
import { hasLinks } from '../frame/panel.ts'
import { useAct } from '../parts/act.ts'
import { AuthorizeButton, InviteButton } from '../parts/authorize-button.tsx'
import { Button } from '../parts/button.tsx'
import { Ask } from '../parts/confirm.tsx'
import { Refused } from '../parts/refused.tsx'
import { addressOf } from '../state/address.ts'
import { asApp } from '../state/caller.ts'
import { count, now, rowTime } from '../state/clock.ts'
import { SOON_MS, readAll } from '../state/keep-reading.ts'
import { standing } from '../state/standing.ts'
import type { Fact } from './fact.ts'
import { whereOf } from './facts-of.ts'

export interface CureProps {
  fact: Pick<Fact, 'action'>
  class?: string | undefined
  /** On a start page, what can be done is done right here. In a row, this is the only button. */
  delivers?: 'row' | 'heading'
}

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
  if (action.type === 'invite') return delivers === undefined ? <InviteButton /> : <Connect />
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

/** Leads the owner of an extension to RingCentral's consent page, and somebody else to a link for the owner. */
function Connect() {
  const { act, error } = useAct()
  const connect = async (): Promise<void> => location.assign(await asApp().connection.connectLink())
  return (
    <>
      {hasLinks() && <Button text="Connect" class="button primary" run={() => act(connect)} />}
      <InviteButton />
      <Refused error={error.value} />
    </>
  )
}

export interface LostActsProps {
  destination: OverviewDestination
  /** When they were counted: later ones are left out. */
  until: string
  class?: string | undefined
  /** Whether they are dismissed elsewhere. */
  isBrief?: boolean
}

/** What can be done about deliveries that never arrived: attempt them again, or stop counting them. */
export function LostActs({ class: className = 'button', isBrief = false, ...lost }: LostActsProps) {
  const { act, isBusy, error } = useAct()
  const { neverArrived } = lost.destination
  const deliver = async (): Promise<void> => {
    await asApp().deliveries.recover(rangeOf(lost))
    readAll(SOON_MS)
  }
  return (
    <>
      <Button
        text={neverArrived === 1 ? 'Deliver it again' : `Deliver the ${count(neverArrived)} again`}
        class={className}
        isDisabled={isBusy.value}
        run={() => act(deliver)}
      />
      {!isBrief && <Dismiss {...lost} />}
      <Refused error={error.value} />
    </>
  )
}

type Lost = Pick<LostActsProps, 'destination' | 'until'>

/** Asks before it stops counting deliveries that never arrived. */
function Dismiss(lost: Lost) {
  const dismiss = async (): Promise<void> => {
    await asApp().deliveries.dismiss(rangeOf(lost))
    readAll()
  }
  const { url, neverArrived } = lost.destination
  const isOne = neverArrived === 1
  const what = isOne ? '1 delivery' : `${count(neverArrived)} deliveries`
  const button = `Dismiss ${isOne ? 'it' : count(neverArrived)}`
  return (
    <Ask label="Dismiss…" title={`Dismiss ${what}`} button={button} isDanger run={dismiss}>
      <p>
        {what} to {new URL(url).host} never arrived, {isOne ? 'since' : 'the oldest since'}{' '}
        {rowTime(rangeOf(lost).since, now.peek())}. Once dismissed,{' '}
        {isOne ? 'it no longer counts' : 'they no longer count'}, and a recovery leaves {isOne ? 'it' : 'them'} out.
      </p>
      <p class="dim">
        {isOne ? 'It stays' : 'They stay'} in the list for 30 days, where you can deliver each one again.
      </p>
    </Ask>
  )
}

/** Deliveries whose latest attempt had failed when they were counted. */
const rangeOf = ({ destination: { appId, triggerId, neverArrivedSince }, until }: Lost) => ({
  since: neverArrivedSince ?? until,
  until,
  appId,
  triggerId,
})
