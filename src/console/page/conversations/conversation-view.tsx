import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Conversation, Message } from '../../../client/client.ts'
import { Bar } from '../list/bar.tsx'
import { CancelMessage } from '../messages/cancel-message.tsx'
import { Button } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy.tsx'
import { Icon } from '../parts/icon.tsx'
import { LoadFailed } from '../parts/load-failed.tsx'
import { isOnePane } from '../parts/media.ts'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { addressOf } from '../state/address.ts'
import { clockTime, shortTime, utcTime } from '../state/clock.ts'
import { useFollowed } from '../parts/following.ts'
import { type Pair, isNumber } from '../thread/contact-forms.ts'
import { Thread } from '../thread/thread.tsx'
import { keyOf } from './conversation-list.ts'
import { OpenConversation } from './open-conversation.ts'
import { OptedOut, RecordOptOut } from './opt-out.tsx'
import { Reply } from './reply.tsx'
import { SilentNumber } from './silent-number.tsx'
import './conversation.css'

interface ConversationViewProps {
  pair: Pair
  /** From the list: null if the list does not have it, undefined while it is loading. */
  listed: Conversation | null | undefined
  close: () => void
  /** Whether a person opened it. */
  takesFocus: boolean
}

/** The open conversation: its texts, and a field to write in. Anything that keeps a text from arriving is shown directly above the field. */
export default function ConversationView({ pair, listed, close, takesFocus }: ConversationViewProps) {
  const conversation = useFollowed(keyOf(pair), (sgw) => new OpenConversation(sgw, pair.number, pair.contact))
  useEffect(() => {
    if (listed === undefined) return
    // A contact that is not in the list may still have opted out.
    void conversation?.readOptOut(listed?.optedOut ?? true)
  }, [conversation, listed === undefined, listed?.optedOut])
  useEffect(() => {
    if (listed) conversation?.reach(listed.lastMessage.messageId)
  }, [conversation, listed?.lastMessage.messageId])
  if (conversation === null) return null
  return (
    <>
      <Head conversation={conversation} close={close} />
      <Texts conversation={conversation} takesFocus={takesFocus} />
    </>
  )
}

function Head({ conversation, close }: { conversation: OpenConversation; close: () => void }) {
  const { number, contact, optOut } = conversation
  const isAsked = useSignal(false)
  const title = (
    <>
      <div class="clip">
        <h2 class="clip" aria-level={isOnePane.value ? 1 : 2}>
          <PhoneNumber value={contact} />
        </h2>
        <p class="small dim clip">
          with <PhoneNumber value={number} />
        </p>
      </div>
      <CopyButton text={contact} label="Copy the contact" />
    </>
  )
  return (
    <Bar class="conversation-head" title={title} close={close}>
      <a class="button quiet" href={addressOf('messages', { number, contact })}>
        <Icon name="messages" />
        <span class="hidden-on-phone">Messages</span>
      </a>
      {optOut.value === null && isNumber(contact) && (
        <Button text="Opt out…" class="button quiet" run={() => (isAsked.value = true)} />
      )}
      {isAsked.value && <RecordOptOut conversation={conversation} close={() => void (isAsked.value = false)} />}
    </Bar>
  )
}

function Texts({ conversation, takesFocus }: { conversation: OpenConversation; takesFocus: boolean }) {
  const { messages, isLoaded, error, hasOlder, contact, late } = conversation
  const cancelled = useSignal<Message | null>(null)
  if (!isLoaded.value && error.value !== '')
    return <LoadFailed what="The conversation" error={error.value} again={() => void conversation.load()} />
  return (
    <>
      <Thread
        messages={isLoaded.value ? messages.value : null}
        seenBy="us"
        loadOlder={hasOlder.value ? () => void conversation.readOlder() : null}
        actions={(message) => (
          <Actions
            message={message}
            // The notice has the buttons for this.
            cancel={late.value.includes(message) ? null : () => void (cancelled.value = message)}
          />
        )}
      >
        No texts yet. {isNumber(contact) && 'The first one starts the conversation.'}
      </Thread>
      <SilentNumber number={conversation.number} isQuiet={late.value.length > 0} />
      <OptedOut conversation={conversation} />
      <Reply conversation={conversation} takesFocus={takesFocus && isLoaded.value && messages.value.length === 0} />
      {cancelled.value !== null && (
        <CancelMessage
          to={contact}
          cancel={() => conversation.cancel([cancelled.value?.messageId ?? ''])}
          close={() => void (cancelled.value = null)}
        />
      )}
    </>
  )
}

interface ActionsProps {
  message: Message
  /** Null if that is offered elsewhere. */
  cancel: (() => void) | null
}

/** Leads to everything that is known about a message. A message that has not gone out can be cancelled. */
const Actions = ({ message: { messageId, status, createdAt }, cancel }: ActionsProps) => (
  <>
    {status === 'queued' && cancel !== null && <Button text="Cancel…" class="link" run={cancel} />}
    <a
      class="link when"
      href={addressOf('messages', { id: messageId })}
      aria-label={`${status === 'queued' ? 'written ' : ''}${clockTime(createdAt)}, all about this text`}
      title={utcTime(createdAt)}
    >
      {status === 'queued' && 'written '}
      {shortTime(createdAt)}
    </a>
  </>
)
