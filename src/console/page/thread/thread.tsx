import { useSignal } from '@preact/signals'
import type { ComponentChild, ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { DeliveryAttempt, Message, Waiting } from '../../../client/client.ts'
import { failedText, failedOf, lastAttempts } from '../messages/webhook-results.ts'
import { shortWaitingText, waitingText } from '../messages/wait-words.ts'
import { explainedShort, isCancelled, stateOf } from '../messages/words.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Carrying } from './carrying.tsx'
import { quotedText } from '../messages/row.ts'
import { dayHeader, dayOf, duration, now, shortTime } from '../state/clock.ts'
import './thread.css'

interface ThreadProps {
  /** Oldest first; null until they are known. */
  messages: readonly Message[] | null
  /**
   * Whose texts are on the right. The contact's phone has no bubble for texts that have not reached it; the tenant's side shows what happened
   * to them.
   */
  seenBy: 'contact' | 'us'
  /** The attempts to deliver a contact's text to the apps, oldest first. */
  attemptsOf?: (messageId: string) => readonly DeliveryAttempt[]
  actions?: (message: Message) => ComponentChild
  /** Loads older messages; null if there are none. */
  loadOlder?: (() => void) | null
  children: ComponentChildren
}

/** A conversation in bubbles. At its end, new ones appear; if it is scrolled, a button below announces a new one. */
export function Thread({ messages, seenBy, attemptsOf, actions, loadOlder = null, children }: ThreadProps) {
  const { box, hasNew, toEnd, noteScroll } = useEnd(messages?.at(-1))
  return (
    <>
      <div
        class={`scroller thread by-${seenBy}`}
        ref={box}
        onScroll={noteScroll}
        tabIndex={0}
        role="log"
        aria-label="Conversation"
      >
        <div class="stack thread-in">
          {loadOlder !== null && <Button text="Show older texts" class="button quiet older" run={loadOlder} />}
          {messages?.map((message, index) => (
            <ThreadMessage
              key={message.messageId}
              {...{ message, seenBy }}
              isRead={index >= messages.length - READ_PICTURES}
              isNewDay={dayOf(message.createdAt) !== dayOf(messages[index - 1]?.createdAt ?? 0)}
              answer={answerOf(attemptsOf?.(message.messageId) ?? [])}
              actions={actions?.(message)}
            />
          ))}
        </div>
        {messages?.length === 0 && <p class="dim thread-empty">{children}</p>}
      </div>
      {hasNew.value && (
        <button type="button" class="line thread-new" onClick={toEnd}>
          <Icon name="down" />
          New text
        </button>
      )}
    </>
  )
}

/** How close to its end a thread counts as being there, in pixels. */
const END_PX = 40

/** Whether a new text is below the visible part, and how to get there. The tenant's own text scrolls there. */
function useEnd(last: Message | undefined) {
  const box = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const hasNew = useSignal(false)
  const toEnd = (): void => box.current?.scrollTo({ top: box.current.scrollHeight })
  useLayoutEffect(() => {
    if (last?.direction === 'outbound') toEnd()
    else hasNew.value = !isAtEnd.current
  }, [last?.messageId])
  const noteScroll = ({ currentTarget }: { currentTarget: HTMLElement }): void => {
    // The box is drawn from its end, so its scroll position counts down from 0.
    isAtEnd.current = currentTarget.scrollTop > -END_PX
    if (isAtEnd.current) hasNew.value = false
  }
  return { box, hasNew, toEnd, noteScroll }
}

/** The pictures of the last messages are read without a click. */
const READ_PICTURES = 3

interface ThreadMessageProps extends Pick<ThreadProps, 'seenBy'> {
  message: Message
  isRead: boolean
  isNewDay: boolean
  /** The parts of the webhooks' answers that matter. */
  answer: DeliveryAttempt | undefined
  actions: ComponentChild
}

const ThreadMessage = (props: ThreadMessageProps) => (
  <>
    {props.isNewDay && (
      <p class="small dim thread-day">
        {dayHeader(props.message.createdAt, now.peek())} {shortTime(props.message.createdAt)}
      </p>
    )}
    {props.message.direction === 'inbound' ? <Received {...props} /> : <Sent {...props} />}
  </>
)

function Received({ message, seenBy, isRead, answer, actions }: ThreadMessageProps) {
  const { webhooks, createdAt } = message
  const failed = webhooks ? failedText(webhooks) : null
  const isBad = answer === undefined ? failed !== null : answer.outcome !== 'success'
  return (
    <>
      <Bubble message={message} isRead={isRead} look="inbound" />
      <p class={isBad ? 'line small dim said-note inbound bad' : 'line small dim said-note inbound'}>
        {isBad && seenBy === 'us' && <Icon name="webhook" />}
        {answer !== undefined
          ? answerText(answer)
          : (failed ?? (seenBy === 'contact' && `received ${shortTime(createdAt)}`))}
        {actions}
      </p>
    </>
  )
}

const Bubble = ({ message, isRead, look }: Pick<ThreadMessageProps, 'message' | 'isRead'> & { look: string }) => (
  <>
    <Carrying message={message} isRead={isRead} bubble="said" look={look} />
    {message.body !== '' && (
      <p class={`said ${look}`} dir="auto">
        <span class="mask">{message.body}</span>
      </p>
    )}
  </>
)

/** A destination's last answer: that of a failed one, otherwise the app's, otherwise a trigger's. */
function answerOf(attempts: readonly DeliveryAttempt[]): DeliveryAttempt | undefined {
  const last = lastAttempts(attempts)
  return failedOf(last)[0] ?? last.find(({ kind }) => kind === 'app') ?? last[0]
}

function answerText({ kind, url, statusCode, durationMs }: DeliveryAttempt): string {
  const who = kind === 'app' ? 'your app' : new URL(url).host
  return statusCode === undefined ? `${who} did not answer` : `${who} answered ${statusCode} in ${duration(durationMs)}`
}

/**
 * A text from the tenant. It is an outline until the provider accepts it, and on the contact's phone until it is delivered; a broken outline if
 * it never was. There, only a note says why a text is missing.
 */
function Sent({ message, seenBy, isRead, actions }: ThreadMessageProps) {
  const { status, deliveryStatus } = message
  const { kind, icon } = stateOf(message)
  const isThere = status === 'sent' && deliveryStatus !== 'undelivered'
  const isOutline = !isThere || (seenBy === 'contact' && deliveryStatus === 'pending')
  const look = isOutline ? `outbound pending ${kind}` : 'outbound'
  return (
    <>
      {(isThere || seenBy === 'us') && <Bubble message={message} isRead={isRead} look={look} />}
      <p class={`line small dim said-note outbound ${isThere ? '' : kind}`}>
        <Icon name={icon} />
        {!isThere && seenBy === 'contact' && (
          <>
            <span class="mask clip" dir="auto">
              {quotedText(message, 24)}
            </span>{' '}
          </>
        )}
        {noteOf(message)}
        {actions}
      </p>
    </>
  )
}

function noteOf({ status, error, deliveryStatus, deliveryError, ...message }: Message): string {
  const { waiting, sendAt, createdAt, updatedAt } = message
  if (isCancelled(error)) return 'cancelled'
  if (status === 'failed') return `not sent: ${explainedShort(error ?? '')}`
  if (deliveryStatus === 'undelivered') return `not delivered${deliveryError ? `: ${lower(deliveryError.reason)}` : ''}`
  if (status !== 'sent') return waiting ? waitText(waiting, now.peek()) : 'on its way'
  const took = Date.parse(updatedAt) - Date.parse(createdAt)
  const sent = sendAt ? `sent ${shortTime(updatedAt)}` : `sent in ${duration(took)}`
  return `${sent}${deliveryStatus === 'delivered' ? ', delivered' : deliveryStatus === 'pending' ? ', on its way' : ''}`
}

/** A scheduled text waits only for its time. A conversation knows numbers, but not extensions. */
const waitText = (waiting: Waiting, at: number): string =>
  waiting.reason === 'scheduled' ? shortWaitingText(waiting, at) : waitingText(waiting, at, 'your number')

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
