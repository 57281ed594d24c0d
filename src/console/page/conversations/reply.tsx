import { type Signal, useSignal } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'
import { Button } from '../parts/button.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { now, zoneName } from '../state/clock.ts'
import { type Draft, type MediaIds, Composer, NoReply, newDraft } from '../thread/composer.tsx'
import { OwnNumber } from '../thread/own-number.tsx'
import { isNumber } from '../thread/contact-forms.ts'
import { keyOf } from './conversation-list.ts'
import type { OpenConversation } from './open-conversation.ts'
import { focusComposer } from '../list/cursor.ts'
import { chosenTime, soonest } from './send-at.ts'

export function Reply({ conversation, takesFocus }: { conversation: OpenConversation; takesFocus: boolean }) {
  const { number, contact, sendError } = conversation
  /** The field's value; null to send immediately. */
  const later = useSignal<string | null>(null)
  if (!isNumber(contact)) return <NoReply contact={contact} />
  const { sendAt, note, isWrong } = chosenTime(later.value, now.value)
  const send = async (text: string, mediaIds: MediaIds): Promise<boolean> => {
    const isTaken = await conversation.send(text, mediaIds, sendAt)
    if (isTaken && later.value !== null) sendAtOnce(later)
    return isTaken
  }
  return (
    <Composer
      label="Write a text"
      button={sendAt === undefined ? 'Send' : 'Schedule'}
      draft={draftOf(conversation)}
      number={number}
      pair={
        <>
          <span class="not-on-phone">From</span> <OwnNumber number={number} contact={contact} />
        </>
      }
      send={isWrong ? null : send}
      error={sendError.value}
      takesFocus={takesFocus}
      beside={<Later later={later} isWrong={isWrong} />}
    >
      {later.value !== null && (
        <p class={isWrong ? 'small bad composer-error' : 'small dim composer-error'} role="status">
          {note || `Time in ${zoneName(sendAt ?? now.value)}.`}
        </p>
      )}
    </Composer>
  )
}

/** The draft stays with its conversation while others are open, and is gone when the session ends. */
const drafts = new WeakMap<Sgw, Map<string, Draft>>()

function draftOf(conversation: OpenConversation): Draft {
  const own = drafts.get(conversation.sgw) ?? new Map<string, Draft>()
  const draft = own.get(keyOf(conversation)) ?? newDraft()
  drafts.set(conversation.sgw, own.set(keyOf(conversation), draft))
  return draft
}

/** The time field disappears, so the focus returns to the text: the scheduled text is right above it. */
function sendAtOnce(later: LaterProps['later']): void {
  later.value = null
  focusComposer()
}

interface LaterProps {
  /** With null, the text goes out immediately. */
  later: Signal<string | null>
  isWrong: boolean
}

const Later = ({ later, isWrong }: LaterProps) =>
  later.value === null ? (
    <Button text="Send later…" class="button quiet" run={() => (later.value = soonest(Date.now()))} />
  ) : (
    <span class="line later">
      <label>
        <span class="hidden">Goes out at</span>
        <input
          class="field"
          ref={takeFocus}
          type="datetime-local"
          value={later.value}
          required
          aria-invalid={isWrong}
          onInput={({ currentTarget }) => void (later.value = currentTarget.value)}
        />
      </label>
      <IconButton icon="failed" label="Send at once instead" run={() => sendAtOnce(later)} />
    </span>
  )

/** It replaces the button that was pressed. */
const takeFocus = (field: HTMLElement | null): void => field?.focus()
