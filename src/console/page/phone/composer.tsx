import { useSignal } from '@preact/signals'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { PhoneNumber, spokenNumber } from '../parts/phone-number.tsx'
import { open } from '../state/address.ts'
import { Composer } from '../thread/composer.tsx'
import type { SimulatorFault } from './simulator.ts'
import type { Conversation } from './conversation.ts'
import { type PairChoices, isNumber, loadChoices } from './pair.ts'

export const FIRST_TEXT = 'Hello from my app. Reply with anything.'

interface PhoneComposerProps {
  conversation: Conversation
  isFirst: boolean
}

/** Writes a text as the app. The first one is written already. What the simulator does with it can be chosen. */
export function PhoneComposer({ conversation, isFirst }: PhoneComposerProps) {
  const { contact, error } = conversation
  const canAnswer = isNumber(contact)
  const send = async (text: string): Promise<boolean> => {
    await conversation.send(text)
    return error.value === ''
  }
  return (
    <Composer
      label="Text from your app"
      button={isFirst ? 'Send the first text' : 'Send from your app'}
      draft={isFirst ? FIRST_TEXT : ''}
      from={<OwnNumber conversation={conversation} />}
      contact={contact}
      send={canAnswer ? send : null}
      error={error.value}
    >
      {!canAnswer && <NoNumber contact={contact} />}
      <Faults conversation={conversation} />
    </Composer>
  )
}

const NoNumber = ({ contact }: { contact: string }) => (
  <p class="dim small composer-error">
    {contact} is no phone number, so nothing can be sent there. It can only text you.
  </p>
)

function OwnNumber({ conversation }: { conversation: Conversation }) {
  const { number, contact } = conversation
  const choices = useSignal<PairChoices>({ numbers: [number], contacts: [] })
  return (
    <Menu
      class="inline-choice"
      opened={() => void loadChoices(choices, number)}
      items={choices.value.numbers.map((choice) => ({
        label: spokenNumber(choice),
        isChosen: choice === number,
        run: () => open('phone', { number: choice, contact }),
      }))}
    >
      <span class="hidden">Number </span>
      <PhoneNumber value={number} />
      <Icon name="down" />
    </Menu>
  )
}

const FAULTS: readonly [fault: SimulatorFault, name: string][] = [
  [null, 'goes well'],
  ['429', '429, try later'],
  ['5xx-after', '502 after accepting'],
  ['slow', 'takes 3 s'],
  ['opted-out', 'recipient opted out'],
]

/** What the simulator does with the next send. It is used up by one. */
const Faults = ({ conversation }: { conversation: Conversation }) => (
  <div class="faults" role="radiogroup" aria-label="What happens to the next send">
    <span class="dim">Next send</span>
    {FAULTS.map(([fault, name]) => (
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
