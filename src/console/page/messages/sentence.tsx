import { useRef } from 'preact/hooks'
import type { ExtensionHealth, Sgw } from '../../../client/client.ts'
import { Icon } from '../parts/icon.tsx'
import { address, addressOf } from '../state/address.ts'
import { count, now, rowTime } from '../state/clock.ts'
import { FailingWebhook } from './failing-webhook.tsx'
import { InviteButton } from '../parts/invite-button.tsx'
import type { MessageList } from './list-state.ts'
import { type Standing, accountedIn, countOf, failedIn, knows, useStanding, waitsOf } from './overview.ts'
import type { ListRow } from './row.ts'
import { stateOf, waitingText } from './words.ts'

/**
 * What matters about the last day's messages, in one sentence with its nouns linked. Under it stands what else needs a look:
 * extensions, then webhooks. The sentence denies nothing that the list shows.
 */
export function Sentence({ list }: { list: MessageList }) {
  const standing = useStanding()
  const rows = useLoadedRows(list)
  const isKnown = useIsKnown(list, standing, rows)
  const isEmpty = list.total.value === 0 && Object.keys(list.filter).length === 0
  const { overview, extensions } = standing ?? { overview: null, extensions: [] }
  const failing = overview?.destinations.filter(({ failingSince }) => failingSince !== null) ?? []
  return (
    <>
      <h1 class="sentence">
        {isEmpty ? 'No messages yet.' : !standing || !rows ? 'Messages' : sentence(standing, rows, isKnown)}
      </h1>
      {extensions
        .filter(({ reason }) => reason !== null)
        .map((extension) => (
          <BadExtension key={extension.extensionId} {...extension} />
        ))}
      {failing.map((destination) => (
        <FailingWebhook key={`${destination.url} ${destination.appId}`} destination={destination} />
      ))}
    </>
  )
}

/** The rows of the list, or those before it until it is loaded; null before the first. */
function useLoadedRows(list: MessageList): readonly ListRow[] | null {
  const loaded = useRef<readonly ListRow[] | null>(null)
  if (!list.isLoading.value) loaded.current = list.rows.value
  return loaded.current
}

/** Whether the figures have known all rows that were loaded so far, whatever the filter. */
function useIsKnown({ sgw }: MessageList, standing: Standing | null, rows: readonly ListRow[] | null): boolean {
  const lacking = useRef<Sgw | null>(null)
  if (standing !== null && rows !== null && !knows(standing, rows)) lacking.current = sgw
  return lacking.current !== sgw
}

/** The worst fact first. Figures that do not know the messages, as those from before an upgrade, say nothing of failures. */
function sentence(standing: Standing, rows: readonly ListRow[], isKnown: boolean) {
  const ends = isKnown ? [failedPart(standing), undeliveredPart(standing, rows)] : []
  const parts = [...ends, waitingPart(standing)].filter((part) => part !== null)
  const fine = isKnown ? finePart(standing, rows) : 'Messages, newest first'
  return <>{parts.length === 0 ? fine : parts.map((part, at) => [at > 0 && '; ', part])}.</>
}

function failedPart({ overview }: Standing) {
  const [failed, before] = [failedIn(overview.totals), failedIn(overview.previous)]
  if (failed === 0) return null
  return (
    <>
      <a class="link" href={addressOf('messages', { status: 'failed', after: '24h' })}>
        {count(failed)} of {count(accountedIn(overview))}
      </a>{' '}
      failed in 24 hours
      {before > 0 && failed > before && `, ${count(before)} the day before`}
    </>
  )
}

/** The API has no filter for it, so it leads to the newest loaded one, or, if none is loaded, to what was sent. */
function undeliveredPart({ overview }: Standing, rows: readonly ListRow[]) {
  const { undelivered } = overview.totals
  const failed = failedIn(overview.totals)
  if (undelivered === 0) return null
  const newest = rows.find(({ deliveryStatus }) => deliveryStatus === 'undelivered')
  const there =
    newest === undefined ? { status: 'sent', after: '24h' } : { ...address.value.params, id: newest.messageId }
  const share = failed > 0 ? count(undelivered) : `${count(undelivered)} of ${count(accountedIn(overview))}`
  return (
    <>
      <a class="link" href={addressOf('messages', there)}>
        {share} not delivered
      </a>
      {failed === 0 && ' in 24 hours'}
    </>
  )
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

function finePart({ overview: { from, totals, queued } }: Standing, rows: readonly ListRow[]): string {
  if (totals.accepted === 0 && totals.received === 0)
    return queued > 0 || rows.some(({ createdAt }) => createdAt >= from)
      ? 'Messages, newest first'
      : 'No messages in 24 hours'
  const hasBad = rows.some((row) => stateOf(row).kind === 'bad')
  return `${count(totals.sent)} sent and ${count(totals.received)} received in 24 hours${hasBad ? '' : ', none failed'}`
}

const BadExtension = ({ extensionId, extensionNumber, reason, since, fix }: ExtensionHealth) => (
  <p class="also">
    <Icon name="failed" />
    <span>
      Extension {extensionNumber ?? extensionId}: {midSentence(reason ?? '')}
      {since !== null && `, since ${rowTime(since, now.peek())}`}. {fix !== null && `${withoutCall(fix)}.`}
    </span>
    {fix?.includes('invite link') && <InviteButton />}
  </p>
)

/** The remedy without the command that does it, because a button does. */
const withoutCall = (fix: string): string => withoutStop(fix).replace(/: sgw extensions invite .*$/, '')

const midSentence = (text: string): string => withoutStop(text.charAt(0).toLowerCase() + text.slice(1))

const withoutStop = (text: string): string => text.replace(/\.$/, '')
