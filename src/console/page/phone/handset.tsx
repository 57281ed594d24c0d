import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { DeliveryAttempt, Message } from '../../../client/client.ts'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { PhoneNumber, spokenNumber } from '../parts/phone-number.tsx'
import { open } from '../state/address.ts'
import { me } from '../state/caller.ts'
import { dayHeader, dayOf, duration, now, shortTime } from '../state/clock.ts'
import { failedOf, lastAttempts } from '../messages/webhook-results.ts'
import { explainedShort, isCancelled, shortWaitingText, stateOf } from '../messages/words.ts'
import type { Conversation } from './conversation.ts'
import { type PairChoices, loadChoices, newContact } from './pair.ts'

/** The contact's phone: what arrived, and a field to text as the contact. */
export const Handset = ({ conversation }: { conversation: Conversation }) => (
  <div class="phone-right">
    <ContactBar conversation={conversation} />
    <section class="handset" aria-label={`Phone of ${spokenNumber(conversation.contact)}`}>
      <div class="handset-top" aria-hidden="true">
        {shortTime(now.value)}
        <span>simulated</span>
      </div>
      <div class="handset-name">
        <b>{me.value?.tenantName ?? ''}</b>
        <PhoneNumber value={conversation.number} />
      </div>
      <Thread conversation={conversation} />
      <Reply conversation={conversation} />
    </section>
  </div>
)

function ContactBar({ conversation }: { conversation: Conversation }) {
  const { number, contact } = conversation
  const choices = useSignal<PairChoices>({ numbers: [], contacts: [contact] })
  const contacts = [...new Set([contact, ...choices.value.contacts])]
  return (
    <div class="contact-bar">
      <Menu
        class="contact-choice"
        opened={() => void loadChoices(choices, number)}
        items={contacts.map((choice) => ({
          label: spokenNumber(choice),
          isChosen: choice === contact,
          run: () => open('phone', { number, contact: choice }),
        }))}
      >
        <span class="hidden">Contact </span>
        <PhoneNumber value={contact} />
        <Icon name="down" />
      </Menu>
      <button
        type="button"
        class="button quiet"
        onClick={() => void newContact(conversation).then((fresh) => open('phone', { number, contact: fresh }))}
      >
        New contact
      </button>
    </div>
  )
}

/** Bubbles appear when the provider has taken the text; the marks change when more is known. */
function Thread({ conversation }: { conversation: Conversation }) {
  const box = useRef<HTMLDivElement>(null)
  const messages = conversation.messages.value
  // A note that comes under the last text makes the thread longer, too.
  useLayoutEffect(() => box.current?.scrollTo({ top: box.current.scrollHeight }), [messages.length, messages.at(-1)])
  return (
    <div class="thread" ref={box} tabIndex={0} role="log" aria-label="Conversation">
      {messages.length === 0 && conversation.isLoaded.value && (
        <p class="thread-empty">
          No texts yet.
          <br />
          This is how a contact will see you.
        </p>
      )}
      {messages.map((message, index) => (
        <ThreadMessage
          key={message.messageId}
          message={message}
          reason={conversation.reasonOf(message.messageId)}
          answer={answerOf(conversation.webhooks.value.get(message.messageId) ?? [])}
          isNewDay={dayOf(message.createdAt) !== dayOf(messages[index - 1]?.createdAt ?? 0)}
        />
      ))}
    </div>
  )
}

interface ThreadMessageProps {
  message: Message
  isNewDay: boolean
  /** Why it was not delivered, if that is known. */
  reason: string
  /** What counts of the webhooks' answers. */
  answer: DeliveryAttempt | undefined
}

const ThreadMessage = ({ message, isNewDay, reason, answer }: ThreadMessageProps) => (
  <>
    {isNewDay && (
      <p class="thread-day">
        {dayHeader(message.createdAt, now.peek())} {shortTime(message.createdAt)}
      </p>
    )}
    {message.direction === 'inbound' ? (
      <>
        <p class="said mine" dir="auto">
          <span class="mask">{message.body}</span>
        </p>
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

function Reply({ conversation }: { conversation: Conversation }) {
  const text = useSignal('')
  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (text.value === '') return
    const reply = text.value
    text.value = ''
    await conversation.reply(reply)
  }
  return (
    <form class="reply" onSubmit={(event) => void send(event)}>
      <input
        dir="auto"
        aria-label="Text as the contact"
        placeholder="Text as this contact"
        autoComplete="off"
        value={text.value}
        onInput={({ currentTarget }) => void (text.value = currentTarget.value)}
      />
      <button type="submit" aria-label="Send as the contact">
        <Icon name="send" />
      </button>
    </form>
  )
}
