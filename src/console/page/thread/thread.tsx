import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { DeliveryAttempt, Message } from '../../../client/client.ts'
import { failedOf, lastAttempts } from '../messages/webhook-results.ts'
import { explainedShort, isCancelled, shortWaitingText, stateOf } from '../messages/words.ts'
import { Icon } from '../parts/icon.tsx'
import { Pictures } from './pictures.tsx'
import { dayHeader, dayOf, duration, now, shortTime } from '../state/clock.ts'
import '../style/thread.css'

interface ThreadProps {
  /** Oldest first; null until they are known. */
  messages: readonly Message[] | null
  /** Why a message was not delivered; '' if it was, or it is not known. */
  reasonOf: (messageId: string) => string
  /** The attempts to tell the apps of a contact's text, oldest first. */
  attemptsOf: (messageId: string) => readonly DeliveryAttempt[]
  /** What stands in a thread without messages. */
  children: ComponentChildren
}

/**
 * A conversation in bubbles, ours at the left and the contact's at the right, as the contact's phone shows it. A bubble appears when the
 * provider has taken the text; the marks change when more is known.
 */
export function Thread({ messages, reasonOf, attemptsOf, children }: ThreadProps) {
  const box = useRef<HTMLDivElement>(null)
  const last = messages?.at(-1)
  // A note that comes under the last text makes the thread longer, too.
  useLayoutEffect(() => box.current?.scrollTo({ top: box.current.scrollHeight }), [messages?.length, last])
  return (
    <div class="thread" ref={box} tabIndex={0} role="log" aria-label="Conversation">
      {messages?.length === 0 && <p class="thread-empty">{children}</p>}
      {messages?.map((message, index) => (
        <ThreadMessage
          key={message.messageId}
          message={message}
          reason={reasonOf(message.messageId)}
          answer={answerOf(attemptsOf(message.messageId))}
          isRead={index >= messages.length - READ_PICTURES}
          isNewDay={dayOf(message.createdAt) !== dayOf(messages[index - 1]?.createdAt ?? 0)}
        />
      ))}
    </div>
  )
}

/** The pictures of the last messages are read without a click. */
const READ_PICTURES = 3

interface ThreadMessageProps {
  message: Message
  /** Whether its pictures are read without a click. */
  isRead: boolean
  isNewDay: boolean
  /** Why it was not delivered, if that is known. */
  reason: string
  /** What counts of the webhooks' answers. */
  answer: DeliveryAttempt | undefined
}

const ThreadMessage = ({ message, isRead, isNewDay, reason, answer }: ThreadMessageProps) => (
  <>
    {isNewDay && (
      <p class="thread-day">
        {dayHeader(message.createdAt, now.peek())} {shortTime(message.createdAt)}
      </p>
    )}
    {message.direction === 'inbound' ? (
      <>
        {message.attachments ? (
          <Pictures messageId={message.messageId} count={message.attachments} isRead={isRead} />
        ) : null}
        {message.body !== '' && (
          <p class="said mine" dir="auto">
            <span class="mask">{message.body}</span>
          </p>
        )}
        <p class={answer === undefined || answer.outcome === 'success' ? 'said-note mine' : 'said-note mine bad'}>
          {answer === undefined ? `received ${shortTime(message.createdAt)}` : answerText(answer)}
        </p>
      </>
    ) : (
      <Arriving message={message} reason={reason} />
    )}
  </>
)

/** The last answer of a destination: that of one that failed, else of the app, else of a trigger. */
function answerOf(attempts: readonly DeliveryAttempt[]): DeliveryAttempt | undefined {
  const last = lastAttempts(attempts)
  return failedOf(last)[0] ?? last.find(({ kind }) => kind === 'app') ?? last[0]
}

function answerText({ kind, url, statusCode, durationMs }: DeliveryAttempt): string {
  const who = kind === 'app' ? 'your app' : new URL(url).host
  return statusCode === undefined ? `${who} did not answer` : `${who} answered ${statusCode} in ${duration(durationMs)}`
}

/** A text of the app. Before the provider has it, only a note says what it waits for; until it is delivered, it is an outline. */
function Arriving({ message, reason }: { message: Message; reason: string }) {
  const isThere = message.status === 'sent' && message.deliveryStatus !== 'undelivered'
  const isPending = message.deliveryStatus === 'pending'
  return (
    <>
      {isThere && (
        <p class={isPending ? 'said theirs pending' : 'said theirs'} dir="auto">
          <span class="mask">{message.body}</span>
        </p>
      )}
      <p class={`said-note ${isThere ? '' : stateOf(message).kind}`}>{noteOf(message, reason)}</p>
    </>
  )
}

function noteOf(message: Message, reason: string) {
  const { status, error, deliveryStatus, waiting, createdAt, updatedAt, body } = message
  const took = duration(Date.parse(updatedAt) - Date.parse(createdAt))
  const text = (
    <span class="mask" dir="auto">
      “{body.length > 24 ? `${body.slice(0, 24)}…` : body}”
    </span>
  )
  if (isCancelled(error))
    return (
      <>
        <Icon name={stateOf(message).icon} /> {text} cancelled
      </>
    )
  if (status === 'failed')
    return (
      <>
        <Icon name={stateOf(message).icon} /> {text} not sent: {explainedShort(error ?? '')}
      </>
    )
  if (deliveryStatus === 'undelivered')
    return (
      <>
        <Icon name="undelivered" /> {text} not delivered{reason !== '' && `: ${reason}`}
      </>
    )
  if (deliveryStatus === 'delivered')
    return (
      <>
        <Icon name="delivered" /> sent in {took}, delivered
      </>
    )
  if (status === 'sent')
    return (
      <>
        <Icon name="sent" /> sent in {took}
        {deliveryStatus === 'pending' && ', on its way'}
      </>
    )
  return (
    <>
      <Icon name={stateOf(message).icon} /> {text} {!waiting ? 'on its way' : shortWaitingText(waiting, now.peek())}
    </>
  )
}
