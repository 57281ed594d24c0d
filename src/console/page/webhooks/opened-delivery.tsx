import type { DeliveryAttempt } from '../../../client/client.ts'
import { whereOf } from '../facts/facts-of.ts'
import { Facts, Json } from '../list/detail-parts.tsx'
import { Icon } from '../parts/icon.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { isOnePane } from '../parts/media.ts'
import { addressOf } from '../state/address.ts'
import { asApp } from '../state/caller.ts'
import { wholeTime } from '../parts/precise-time.ts'
import { capital, duration, rowTime, utcTime } from '../state/clock.ts'
import { useReading } from '../state/keep-reading.ts'
import { useLoading } from '../state/loading.ts'
import type { DeliveryList } from './delivery-list.ts'
import type { Destination } from './destination.ts'
import { Posted } from './posted.tsx'
import { Redeliver } from './redeliver.tsx'
import { retriesOf } from './settings.tsx'
import { OUTCOMES, adviceOf, eventOf, retryText, shortReason, shortUrl } from './words.ts'
import '../style/why.css'

const MAX_ATTEMPTS = 100

interface OpenedDeliveryProps {
  deliveryId: string
  messageId: string
  list: DeliveryList
  destinations: readonly Destination[] | null
}

export function OpenedDelivery({ destinations, ...which }: OpenedDeliveryProps) {
  const { attempts, isLost, reading } = useDelivery(which)
  const { value, error, again } = reading
  const last = attempts.at(-1)
  if (last === undefined)
    return value.value === null ? <LoadFailed what="The delivery" error={error.value} again={again} /> : <NotThere />
  const name = destinations?.find(({ id }) => id === (last.appId ?? last.triggerId))?.name ?? last.appId ?? 'Trigger'
  return (
    <>
      <section>
        <Outcome last={last} count={attempts.length} name={name} isLost={isLost} />
        <Redeliver last={last} isLost={isLost} again={again} />
      </section>
      <Attempts attempts={attempts} />
      <Posted attempt={last} />
      <Facts
        facts={[
          [
            'Message',
            <a class="link mono" href={addressOf('messages', { id: last.messageId })}>
              {last.messageId}
            </a>,
          ],
          ['Destination', name],
          ['Address', last.url],
          ['Event', eventOf(last)],
          ['Correlation id', last.correlationId === undefined ? '–' : <span class="mono">{last.correlationId}</span>],
          ['Latest attempt', wholeTime(last.attemptedAt)],
        ]}
      />
      <Json value={attempts.toReversed()} />
    </>
  )
}

/** Its attempts, oldest first, including those in the list, and whether it never arrived. */
function useDelivery({ deliveryId, messageId, list }: Pick<OpenedDeliveryProps, 'deliveryId' | 'messageId' | 'list'>) {
  const own = (attempt: DeliveryAttempt): boolean => attempt.deliveryId === deliveryId
  const read = async () => {
    const { deliveries } = asApp()
    const [all, lost] = await Promise.all([
      deliveries.list({ messageId, limit: MAX_ATTEMPTS }).page(1),
      deliveries.list({ messageId, state: 'never_arrived', limit: MAX_ATTEMPTS }).page(1),
    ])
    return { made: all.attempts.filter(own), isLost: lost.attempts.some(own) }
  }
  const reading = useReading({ read }, [deliveryId])
  const { made = [], isLost = false } = reading.value.value ?? {}
  const known = [...made, ...list.rows.value.filter(own)].map((each) => [each.attemptNumber, each] as const)
  const attempts = [...new Map(known).values()].toSorted((a, b) => a.attemptNumber - b.attemptNumber)
  return { attempts, isLost, reading }
}

const NotThere = () => (
  <section>
    <h2>This delivery cannot be shown.</h2>
    <p class="dim">It may belong to another tenant, or it is older than 30 days.</p>
  </section>
)

interface OutcomeProps {
  last: DeliveryAttempt
  count: number
  name: string
  /** Whether it never arrived, and nobody has dismissed it. */
  isLost: boolean
}

function Outcome({ last, count, name, isLost }: OutcomeProps) {
  const isGood = last.outcome === 'success'
  const tries = count === 1 ? 'one attempt' : `${count} attempts`
  return (
    <>
      <h2 class="line outcome" aria-level={isOnePane.value ? 1 : 2}>
        <span class={isGood ? undefined : 'bad'}>
          <Icon name={isGood ? 'sent' : 'failed'} />
        </span>
        {isGood
          ? `Delivered ${count === 1 ? `in ${duration(last.durationMs)}` : `after ${tries}`}`
          : isLost
            ? `Never arrived, after ${tries}`
            : `Failed after ${tries}`}
      </h2>
      <p class="parties">
        {eventOf(last)}, to{' '}
        <a class="link" href={addressOf('webhooks', whereOf(last))}>
          {name}
        </a>{' '}
        at {shortUrl(last.url)}
      </p>
      {!isGood && <Why last={last} />}
    </>
  )
}

/** What happened, why in the other side's words, what the gateway does, and what a person can do. */
function Why({ last }: { last: DeliveryAttempt }) {
  const id = last.appId ?? last.triggerId ?? ''
  const policy = useLoading(async () => retriesOf(last.kind, id)?.retries(id) ?? null, [id])
  const said = last.responseSnippet ?? ''
  return (
    <div class="why">
      <p>
        <b>{capital(shortReason(last))}.</b>
      </p>
      {said !== '' && (
        <p>
          It answered “<span class="mask">{said}</span>”.
        </p>
      )}
      {said === '' && last.errorMessage !== undefined && (
        <p>
          The gateway noted “{last.errorMessage}”{last.errorClass !== undefined && ` (${last.errorClass})`}.
        </p>
      )}
      <p>
        {policy.value.value !== null && `${retryText(policy.value.value, last)} `}
        {adviceOf(last)}
      </p>
    </div>
  )
}

const Attempts = ({ attempts }: { attempts: readonly DeliveryAttempt[] }) => (
  <section>
    <h3 aria-level={isOnePane.value ? 2 : 3}>
      Attempts <span>{attempts.length > 1 && `${attempts.length} in all`}</span>
    </h3>
    <ol class="webhooks">
      {attempts.map((attempt) => (
        <li
          key={attempt.attemptNumber}
          class={attempt.outcome === 'success' ? 'columns webhook' : 'columns webhook bad-webhook'}
        >
          <time dateTime={attempt.attemptedAt} title={utcTime(attempt.attemptedAt)}>
            {rowTime(attempt.attemptedAt, Date.now())}
          </time>
          <Icon name={attempt.outcome === 'success' ? 'sent' : 'failed'} />
          <b>{attempt.statusCode === undefined ? OUTCOMES[attempt.outcome] : `HTTP ${attempt.statusCode}`}</b>
          <span class="clip webhook-url" title={attempt.url}>
            {shortUrl(attempt.url)}
          </span>
          <span class="measure">{duration(attempt.durationMs)}</span>
        </li>
      ))}
    </ol>
  </section>
)
