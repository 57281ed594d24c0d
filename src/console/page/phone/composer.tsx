import { useEffect, useMemo } from 'preact/hooks'
import { onViewKey } from '../frame/keys.ts'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { type MediaIds, Composer, NoReply, newDraft } from '../thread/composer.tsx'
import { OwnNumber } from '../thread/own-number.tsx'
import { isNumber } from '../thread/contact-forms.ts'
import { FAULTS, type SimulatorFault } from './simulator.ts'
import type { TracedConversation } from './traced-conversation.ts'

export const FIRST_TEXT = 'Hello from my app. Reply with anything.'

/** Writes a text as the app. The first text is filled in. You can choose what the simulator does with it. */
export function PhoneComposer({ conversation, isFirst }: { conversation: TracedConversation; isFirst: boolean }) {
  const { number, contact, error } = conversation
  const canAnswer = isNumber(contact)
  const draft = useMemo(newDraft, [])
  useEffect(() => {
    if (isFirst && draft.text.value === '') draft.text.value = FIRST_TEXT
    return isFirst ? onViewKey(sendByEnter) : undefined
  }, [isFirst])
  const send = async (body: string, mediaIds: MediaIds): Promise<boolean> => {
    await conversation.send(body, mediaIds)
    return error.value === ''
  }
  return (
    <Composer
      label="Text from your app"
      button={isFirst ? 'Send the first text' : 'Send from your app'}
      draft={draft}
      number={number}
      pair={
        <>
          From <OwnNumber number={number} contact={contact} /> to <PhoneNumber value={contact} />
        </>
      }
      send={canAnswer ? send : null}
      error={error.value}
    >
      {!canAnswer && <NoReply contact={contact} />}
      <Faults conversation={conversation} />
    </Composer>
  )
}

/** The first text is filled in, so Enter sends it while nothing has the focus. */
function sendByEnter(key: string): boolean {
  if (key !== 'Enter' || document.activeElement !== document.body) return false
  document.querySelector<HTMLFormElement>('.composer form')?.requestSubmit()
  return true
}

const CHOICES: readonly [fault: SimulatorFault, name: string][] = [
  [null, 'goes well'],
  ...(Object.entries(FAULTS) as [SimulatorFault, string][]),
]

/** What the simulator does with the next send, and only with that one. */
const Faults = ({ conversation }: { conversation: TracedConversation }) => (
  <div class="segmented faults" role="radiogroup" aria-label="What happens to the next send">
    <b>Next send</b>
    {CHOICES.map(([fault, name]) => (
      <label key={name}>
        <input
          type="radio"
          name="fault"
          checked={conversation.fault.value === fault}
          onChange={() => void conversation.setFault(fault)}
        />
        {name}
      </label>
    ))}
  </div>
)
