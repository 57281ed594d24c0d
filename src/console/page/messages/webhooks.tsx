import type { DeliveryAttempt } from '../../../client/client.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { isOnePane } from '../parts/media.ts'
import { Refused } from '../parts/refused.tsx'
import { clockTime, duration, utcTime } from '../state/clock.ts'
import type { OpenMessage } from './detail-state.ts'
import { lastAttempts } from './webhook-results.ts'

/** Each POST of the message's webhooks: when, where to, what the destination answered, and how long it took. */
export function Webhooks({ message, isInbound }: { message: OpenMessage; isInbound: boolean }) {
  const attempts = message.known.value?.webhooks
  if (attempts === undefined || (attempts.length === 0 && !isInbound)) return null
  const last = lastAttempts(attempts)
  return (
    <section aria-label="Webhooks">
      <h3 aria-level={isOnePane.value ? 2 : 3}>
        Webhooks <span>{attempts.length > 1 && `${attempts.length} attempts`}</span>
      </h3>
      {attempts.length === 0 && <p class="small dim">No webhook was posted for this text.</p>}
      <ol class="webhooks">
        {attempts.map((attempt) => (
          <Attempt
            key={`${attempt.deliveryId} ${attempt.attemptNumber}`}
            attempt={attempt}
            isLast={last.includes(attempt)}
            again={() => void message.redeliver(attempt.deliveryId)}
          />
        ))}
      </ol>
      <Refused error={message.error.value} />
    </section>
  )
}

function Attempt({ attempt, isLast, again }: { attempt: DeliveryAttempt; isLast: boolean; again: () => void }) {
  const { attemptedAt, attemptNumber, durationMs, outcome, url } = attempt
  const isGood = outcome === 'success'
  const said = isGood ? '' : saidBy(attempt)
  return (
    <li class={isGood ? 'columns webhook' : 'columns webhook bad-webhook'}>
      <time dateTime={attemptedAt} title={utcTime(attemptedAt)}>
        {clockTime(attemptedAt)}
      </time>
      <Icon name={isGood ? 'sent' : 'failed'} />
      <b>{resultOf(attempt)}</b>
      <span class="clip webhook-url" title={url}>
        {shortUrl(url)}
        {attemptNumber > 1 && `, attempt ${attemptNumber}`}
      </span>
      <span class="measure">{duration(durationMs)}</span>
      {said !== '' && <span class="note mask">{said}</span>}
      {isLast && !isGood && <Button text="Deliver again" run={again} />}
    </li>
  )
}

function resultOf({ outcome, statusCode }: DeliveryAttempt): string {
  if (statusCode !== undefined) return `HTTP ${statusCode}`
  return outcome === 'timeout' ? 'No answer in time' : outcome === 'network_error' ? 'Not reached' : '–'
}

/** What the destination answered, or why it was not reached. */
const saidBy = ({ responseSnippet, errorMessage }: DeliveryAttempt): string =>
  responseSnippet ? `It answered “${responseSnippet}”.` : (errorMessage ?? '')

const shortUrl = (url: string): string => url.replace(/^https?:\/\//, '')
