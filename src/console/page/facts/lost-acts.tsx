import { useSignal } from '@preact/signals'
import type { Overview, OverviewDestination, RecoverRange } from '../../../client/client.ts'
import { Confirm } from '../parts/confirm.tsx'
import { client, whileSignedIn } from '../state/caller.ts'
import { count, now, rowTime } from '../state/clock.ts'
import { failureText } from '../state/failure.ts'
import { readAllSoon } from '../state/keep-reading.ts'

export interface LostActsProps {
  /** The app or trigger. */
  id: string
  /** The overview that counts them; null if it is not known. */
  overview: Overview | null
  class?: string | undefined
  /** Whether they are dismissed elsewhere. */
  isBrief?: boolean
  /** Called when they are attempted again or dismissed. */
  done?: () => void
}

/** Deliveries to one destination that never arrived. */
interface Lost {
  destination: OverviewDestination
  /** When they were counted. */
  until: string
}

/** The actions for deliveries that never arrived: attempt them again, or stop counting them. */
export function LostActs({ id, overview, ...more }: LostActsProps) {
  const destination = overview?.destinations.find((each) => (each.appId ?? each.triggerId) === id)
  if (overview === null || destination === undefined || destination.neverArrived === 0) return null
  return <Acts lost={{ destination, until: overview.to }} {...more} />
}

function Acts({ lost, class: className = 'button', isBrief = false, done }: ActsProps) {
  const isAsked = useSignal(false)
  const isBusy = useSignal(false)
  const error = useSignal('')
  const ended = (): void => (done?.(), readAllSoon())
  const deliver = async (): Promise<void> => {
    isBusy.value = true
    error.value = ''
    try {
      await whileSignedIn(client.value?.deliveries.recover(rangeOf(lost)) ?? Promise.resolve(null))
      ended()
    } catch (reason) {
      error.value = failureText(reason)
    }
    isBusy.value = false
  }
  return (
    <>
      <button type="button" class={className} disabled={isBusy.value} onClick={() => void deliver()}>
        {lost.destination.neverArrived === 1
          ? 'Deliver it again'
          : `Deliver the ${count(lost.destination.neverArrived)} again`}
      </button>
      {!isBrief && (
        <button type="button" class="button quiet" onClick={() => void (isAsked.value = true)}>
          Dismiss…
        </button>
      )}
      {error.value !== '' && (
        <span class="bad" role="alert">
          {error.value}
        </span>
      )}
      {isAsked.value && <Dismiss lost={lost} ended={ended} close={() => void (isAsked.value = false)} />}
    </>
  )
}

interface ActsProps extends Omit<LostActsProps, 'id' | 'overview'> {
  lost: Lost
}

/** Asks before it stops counting deliveries that never arrived. */
function Dismiss({ lost, ended, close }: { lost: Lost; ended: () => void; close: () => void }) {
  const run = async (): Promise<void> => {
    await whileSignedIn(client.value?.deliveries.dismiss(rangeOf(lost)) ?? Promise.resolve(null))
    ended()
  }
  const { url, neverArrived, neverArrivedSince } = lost.destination
  const isOne = neverArrived === 1
  const what = isOne ? '1 delivery' : `${count(neverArrived)} deliveries`
  return (
    <Confirm
      title={`Dismiss ${what}`}
      button={`Dismiss ${isOne ? 'it' : count(neverArrived)}`}
      isDanger
      run={run}
      close={close}
    >
      <p>
        {what} to {new URL(url).host} never arrived, {isOne ? 'since' : 'the oldest since'}{' '}
        {rowTime(neverArrivedSince ?? '', now.peek())}. Once dismissed,{' '}
        {isOne ? 'it no longer counts' : 'they no longer count'}, and a recovery leaves {isOne ? 'it' : 'them'} out.
      </p>
      <p class="dim">
        {isOne ? 'It stays' : 'They stay'} in the list for 30 days, where you can deliver each one again.
      </p>
    </Confirm>
  )
}

/** Deliveries whose latest attempt had failed when they were counted. */
function rangeOf({ destination: { appId, triggerId, neverArrivedSince }, until }: Lost): RecoverRange {
  return { since: neverArrivedSince ?? until, until, appId, triggerId }
}
