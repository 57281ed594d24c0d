import type { DeliveryAttempt, Timeline } from '../../../client/client.ts'
import { Icon } from '../parts/icon.tsx'
import { isOnePane } from '../parts/media.ts'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { appName } from '../state/caller.ts'
import { capital, duration, now } from '../state/clock.ts'
import { standing } from '../state/standing.ts'
import { type ListRow, contactOf, ownNumberOf } from './row.ts'
import { failedOf } from './webhook-results.ts'
import { WAIT_ADVICE, waitingText } from './wait-words.ts'
import { cureOf, explained, isCancelled, stateOf, undeliveredAdvice } from './words.ts'
import { withNumbers } from '../parts/with-numbers.tsx'
import '../style/why.css'

interface OutcomeProps {
  row: ListRow
  timeline: Timeline | null
  /** The attempts of its webhooks, oldest first. */
  webhooks: readonly DeliveryAttempt[]
}

/** What happened to the message in one line, and the reason below it. */
export function Outcome({ row, timeline, webhooks }: OutcomeProps) {
  const state = stateOf(row)
  const isInbound = row.direction === 'inbound'
  const failed = isInbound ? failedOf(webhooks) : []
  const app = appName(row.appId)
  return (
    <>
      <h2 class="line outcome" aria-level={isOnePane.value ? 1 : 2}>
        <span class={failed.length > 0 ? 'bad' : state.kind}>
          <Icon name={state.icon} />
        </span>
        {outcomeText(row, state.word, timeline)}
        {failed.length > 0 && (failed.length === 1 ? ', a webhook failed' : `, ${failed.length} webhooks failed`)}
      </h2>
      <p class="parties">
        {isInbound ? 'From ' : 'To '}
        <PhoneNumber value={contactOf(row)} />
        {isInbound ? ' to ' : ' from '}
        <PhoneNumber value={ownNumberOf(row)} />
        {app !== '' && `, ${isInbound ? 'for' : 'by'} ${app}`}
      </p>
      <Why row={row} timeline={timeline} />
    </>
  )
}

function outcomeText(row: ListRow, word: string, timeline: Timeline | null): string {
  const entries = timeline?.entries ?? []
  const attempts = entries.filter(({ type }) => type === 'attempt').length
  const tries = attempts === 1 ? 'one attempt' : `${attempts} attempts`
  const took = tookMs(timeline)
  if (isCancelled(row.error)) return 'Cancelled before it was sent'
  if (row.status === 'failed' && timeline !== null)
    return attempts === 0 ? 'Failed without an attempt' : `Failed after ${tries}`
  if (row.status === 'sending' && row.waiting && attempts > 0) return `${word}, after ${tries}`
  if (row.status === 'sending' && attempts > 1) return `${word}, attempt ${attempts}`
  if (row.deliveryStatus === 'unknown') return 'Sent, delivery unknown'
  if (row.deliveryStatus === 'undelivered') return word
  if (took === null) return word
  return row.deliveryStatus === 'delivered' ? `${word}, known after ${duration(took)}` : `${word} in ${duration(took)}`
}

/** From acceptance to delivery, or to `sent`; null if neither has happened, or the message was scheduled. */
function tookMs(timeline: Timeline | null): number | null {
  const entries = timeline?.entries ?? []
  const end = entries.findLast(({ type }) => type === 'delivered') ?? entries.findLast(({ type }) => type === 'sent')
  const start = entries.find(({ type }) => type === 'queued')
  if (end === undefined || start === undefined || entries.some(({ type }) => type === 'scheduled')) return null
  return Date.parse(end.at) - Date.parse(start.at)
}

function Why({ row, timeline }: { row: ListRow; timeline: Timeline | null }) {
  if (row.waiting)
    return (
      <div class={row.waiting.reason === 'scheduled' ? 'why plain-edge' : 'why warn-edge'}>
        <p>
          <b>{capital(waitingText(row.waiting, now.value))}</b>
          {leftText(row.waiting.until)}.
        </p>
        <p>{WAIT_ADVICE[row.waiting.reason]}</p>
      </div>
    )
  if (row.error !== null) return <FailureReason error={row.error} from={row.from} />
  const undelivered = timeline?.entries.findLast((entry) => entry.type === 'undelivered')
  if (undelivered?.type !== 'undelivered') return null
  return (
    <div class="why">
      <p>
        <b>{undelivered.reason}.</b>
      </p>
      <p>
        RingCentral took the text and could not deliver it
        {undelivered.errorCode === undefined ? '' : ` (${undelivered.errorCode})`}. The gateway does not send it again.{' '}
        {undeliveredAdvice(undelivered.errorCode)}
      </p>
    </div>
  )
}

/** `, in 3 min 44 s`; '' if there is no end, or it has passed. */
function leftText(until: string | undefined): string {
  const left = Date.parse(until ?? '') - now.value
  return left >= 1000 ? `, in ${duration(Math.floor(left / 1000) * 1000).replace('.0 s', ' s')}` : ''
}

function FailureReason({ error, from }: { error: string; from: string }) {
  if (isCancelled(error))
    return <p class="dim outcome-note">Nothing was sent. It can be sent again as a new message.</p>
  const { what, quote, code, advice } = explained(error)
  const isByJwt = cureOf({ error, from }, standing.value?.extensions) === 'jwt'
  return (
    <div class="why">
      <p>
        <b>{withNumbers(what)}</b>
      </p>
      {quote !== undefined && (
        <p>
          RingCentral said “{quote}”{code !== undefined && ` (${code})`}.
        </p>
      )}
      {advice !== '' && <p>{isByJwt ? 'Connect the extension with another JWT, then send it again.' : advice}</p>}
    </div>
  )
}
