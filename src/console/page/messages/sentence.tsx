import type { ExtensionHealth, OverviewDestination } from '../../../client/client.ts'
import { Icon } from '../parts/icon.tsx'
import { addressOf } from '../state/address.ts'
import { count, now, rowTime } from '../state/clock.ts'
import { type Standing, countOf, useStanding, waitsOf } from './overview.ts'
import { waitingText } from './words.ts'

/**
 * What matters about the last day's messages, in one sentence with its nouns linked. Under it stands what else needs a look:
 * extensions, then webhooks. `isEmpty`: there is no message at all. `newestAt`: when the list's newest message was accepted.
 */
export function Sentence({ isEmpty, newestAt }: { isEmpty: boolean; newestAt: string }) {
  const standing = useStanding()
  const { overview, extensions } = standing ?? { overview: null, extensions: [] }
  const failing = overview?.destinations.filter(({ failingSince }) => failingSince !== null) ?? []
  return (
    <>
      <h1 class="sentence">
        {isEmpty ? 'No messages yet.' : standing === null ? 'Messages' : sentence(standing, newestAt)}
      </h1>
      {extensions
        .filter(({ reason }) => reason !== null)
        .map((extension) => (
          <BadExtension key={extension.extensionId} {...extension} />
        ))}
      {failing.map((destination) => (
        <FailingWebhook key={`${destination.url} ${destination.appId}`} {...destination} />
      ))}
    </>
  )
}

/** The worst fact first. */
function sentence(standing: Standing, newestAt: string) {
  const parts = [failedPart(standing), undeliveredPart(standing), waitingPart(standing)].filter((part) => part !== null)
  return <>{parts.length === 0 ? finePart(standing, newestAt) : parts.map((part, at) => [at > 0 && '; ', part])}.</>
}

function failedPart({ overview: { totals, previous } }: Standing) {
  if (totals.failed === 0) return null
  return (
    <>
      <a class="link" href={addressOf('messages', { status: 'failed', after: '24h' })}>
        {count(totals.failed)} of {count(Math.max(totals.accepted, totals.failed))}
      </a>{' '}
      failed in 24 hours
      {previous.failed > 0 && totals.failed > previous.failed && `, ${count(previous.failed)} the day before`}
    </>
  )
}

/** The API has no filter for it, so it is no link. */
function undeliveredPart({ overview: { totals } }: Standing): string | null {
  if (totals.undelivered === 0) return null
  if (totals.failed > 0) return `${count(totals.undelivered)} not delivered`
  return `${count(totals.undelivered)} of ${count(Math.max(totals.sent, totals.undelivered))} not delivered in 24 hours`
}

function waitingPart({ overview, extensions }: Standing) {
  const waits = waitsOf(overview)
  const [first] = waits
  if (first === undefined) return null
  const { extensionNumber } = extensions.find(({ extensionId }) => extensionId === first.extensionId) ?? {}
  const why = waitingText(first, now.peek())
  return (
    <>
      <a class="link" href={addressOf('messages', { status: 'queued' })}>
        {count(countOf(waits))} {countOf(waits) === 1 ? 'waits' : 'wait'}
      </a>
      : {extensionNumber ? why.replace('the extension', `extension ${extensionNumber}`) : why}
    </>
  )
}

/** Figures can know less than the list, as those of messages from before an upgrade: then they say nothing. */
function finePart({ overview: { from, totals, queued } }: Standing, newestAt: string): string {
  if (totals.accepted === 0 && totals.received === 0)
    return queued > 0 || newestAt >= from ? 'Messages, newest first' : 'No messages in 24 hours'
  return `${count(totals.sent)} sent and ${count(totals.received)} received in 24 hours, none failed`
}

const BadExtension = ({ extensionId, extensionNumber, reason, since, fix }: ExtensionHealth) => (
  <p class="also">
    <Icon name="failed" />
    <span>
      Extension {extensionNumber ?? extensionId}: {midSentence(reason ?? '')}
      {since !== null && `, since ${rowTime(since, now.peek())}`}. {fix !== null && `${withoutStop(fix)}.`}
    </span>
  </p>
)

const FailingWebhook = ({ url, failed, failingSince, lastStatusCode }: OverviewDestination) => (
  <p class="also">
    <Icon name="failed" />
    <span>
      {new URL(url).host} {lastStatusCode === undefined ? 'cannot be reached' : `answers ${lastStatusCode}`}:{' '}
      {failed === 1 ? '1 webhook' : `${count(failed)} webhooks`} failed since {rowTime(failingSince ?? 0, now.peek())}.
    </span>
  </p>
)

const midSentence = (text: string): string => withoutStop(text.charAt(0).toLowerCase() + text.slice(1))

const withoutStop = (text: string): string => text.replace(/\.$/, '')
