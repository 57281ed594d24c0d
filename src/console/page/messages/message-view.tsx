import type { ComponentChildren } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import type { Timeline } from '../../../client/client.ts'
import { DetailHead, Facts, Json } from '../list/detail-parts.tsx'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { wholeTime } from '../parts/precise-time.ts'
import { addressOf } from '../state/address.ts'
import { appName, client } from '../state/caller.ts'
import { Carrying } from '../thread/carrying.tsx'
import { Segments } from '../thread/segments.tsx'
import { Actions } from './actions.tsx'
import { OpenMessage } from './detail-state.ts'
import { Outcome } from './outcome.tsx'
import { type ListRow, contactOf, ownNumberOf } from './row.ts'
import { TimelineChart } from './timeline.tsx'
import { Webhooks } from './webhooks.tsx'

interface MessageViewProps {
  id: string
  /** The row of the list; null if the list does not have it. */
  row: ListRow | null
  move: (step: number) => void
}

/** The open message, in a file of its own: outcome, reason, buttons, text, timeline, webhooks, facts, JSON. */
export default function MessageView({ id, row, move }: MessageViewProps) {
  const sgw = client.value
  const message = useMemo(() => (sgw === null ? null : new OpenMessage(sgw, id)), [sgw, id])
  useEffect(() => message?.follow(), [message])
  const shown = shownRow(row, message)
  return (
    <>
      <DetailHead id={id} noun="message" move={move} />
      {shown === null ? <NotThere message={message} /> : <Body row={shown} message={message} />}
    </>
  )
}

/** The list's row, or the status endpoint's answer for a message that is not in the list. */
function shownRow(row: ListRow | null, message: OpenMessage | null): ListRow | null {
  const { facts = null, timeline = null } = message?.known.value ?? {}
  if (row === null && facts === null) return null
  const known = { appId: '', tenantId: '', jobId: '', userId: null, ...row, ...facts } as ListRow
  return {
    ...known,
    direction: facts?.status === 'received' || row?.direction === 'inbound' ? 'inbound' : 'outbound',
    waiting: timeline === null ? (row?.waiting ?? null) : timeline.waiting,
    deliveryStatus: timeline === null ? (row?.deliveryStatus ?? null) : timeline.deliveryStatus,
    attachments: row?.attachments ?? attachmentsIn(timeline),
  }
}

/** The status endpoint does not count them. */
function attachmentsIn(timeline: Timeline | null): number {
  const [first] = timeline?.entries ?? []
  return first?.type === 'queued' || first?.type === 'received' ? (first.attachments ?? 0) : 0
}

const NotThere = ({ message }: { message: OpenMessage | null }) => (
  <section>
    {message !== null && message.error.value !== '' && (
      <>
        <h2>This message cannot be shown.</h2>
        <p class="dim">
          {message.error.value}
          {message.error.value.includes('not found') && ' It may belong to another tenant, or it was erased.'}
        </p>
      </>
    )}
  </section>
)

function Body({ row, message }: { row: ListRow; message: OpenMessage | null }) {
  const { facts, timeline = null, webhooks = [] } = message?.known.value ?? {}
  return (
    <>
      <section>
        <Outcome row={row} timeline={timeline} webhooks={webhooks} />
        <Actions row={row} timeline={timeline} />
      </section>
      <section>
        <TextWithSegments row={row} />
      </section>
      {timeline !== null && <TimelineChart timeline={timeline} webhooks={webhooks} />}
      {message !== null && <Webhooks message={message} isInbound={row.direction === 'inbound'} />}
      <MessageFacts row={row} />
      <Json value={facts ?? row} />
    </>
  )
}

const lookOf = ({ direction }: ListRow): string => (direction === 'inbound' ? 'theirs' : 'ours')

/** Pictures and text as bubbles, and under them how many SMS the text takes, as the gateway counts. */
const TextWithSegments = ({ row }: { row: ListRow }) => (
  <div class="stack bubbles">
    <Carrying message={row} isRead bubble="bubble" look={lookOf(row)} />
    {row.body !== '' && (
      <div class={`bubble ${lookOf(row)}`} dir="auto">
        <span class="mask">{row.body}</span>
      </div>
    )}
    {row.direction === 'outbound' && !row.attachments && (
      <p class="small dim">
        <Segments key={row.messageId} text={row.body} />
      </p>
    )}
  </div>
)

function MessageFacts({ row }: { row: ListRow }) {
  const app = appName(row.appId)
  const facts: readonly [name: string, value: ComponentChildren][] = [
    ['App', app === '' ? '–' : <ListLink param="app" value={app} />],
    ['User', row.userId === null ? '–' : <span class="mono mask">{row.userId}</span>],
    ['Contact', <ListLink param="contact" value={contactOf(row)} />],
    ['Our number', <ListLink param="number" value={ownNumberOf(row)} />],
    ['RingCentral id', row.rcMessageId === null ? '–' : <span class="mono">{row.rcMessageId}</span>],
    ['Job', row.jobId === '' ? '–' : <span class="mono">{row.jobId}</span>],
    [row.direction === 'inbound' ? 'Received' : 'Accepted', wholeTime(row.createdAt)],
  ]
  return <Facts facts={facts} />
}

const ListLink = ({ param, value }: { param: 'app' | 'contact' | 'number'; value: string }) => (
  <a class="link" href={addressOf('messages', { [param]: value })}>
    {param === 'app' ? value : <PhoneNumber value={value} />}
  </a>
)
