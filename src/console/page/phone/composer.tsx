import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { PhoneNumber, spokenNumber } from '../parts/phone-number.tsx'
import { open } from '../state/address.ts'
import { client } from '../state/caller.ts'
import { connection } from '../state/live.ts'
import type { SimulatorFault } from './simulator.ts'
import type { Conversation } from './conversation.ts'
import { type PairChoices, isNumber, loadChoices } from './pair.ts'

export const FIRST_TEXT = 'Hello from my app. Reply with anything.'
const MAX_UNITS = 1600

interface ComposerProps {
  conversation: Conversation
  isFirst: boolean
}

/** Writes a text as the app. The first one is written already. */
export function Composer({ conversation, isFirst }: ComposerProps) {
  const text = useSignal('')
  const isBusy = useSignal(false)
  useEffect(() => {
    if (isFirst) text.value = FIRST_TEXT
  }, [isFirst])
  const canAnswer = isNumber(conversation.contact)
  const send = async (): Promise<void> => {
    if (text.value === '' || isBusy.value || !canAnswer) return
    isBusy.value = true
    await conversation.send(text.value)
    if (conversation.error.value === '') text.value = ''
    isBusy.value = false
  }
  return (
    <div class="composer">
      <form
        class="composer-box"
        onSubmit={(event) => {
          event.preventDefault()
          void send()
        }}
      >
        <textarea
          dir="auto"
          aria-label="Text from your app"
          placeholder="Text from your app"
          maxLength={MAX_UNITS}
          rows={2}
          value={text.value}
          onInput={({ currentTarget }) => void (text.value = currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            void send()
          }}
        />
        <div class="composer-foot">
          <span class="composer-pair">
            From <OwnNumber conversation={conversation} /> to <PhoneNumber value={conversation.contact} />
          </span>
          <Segments text={text.value} />
          <button type="submit" class="button primary" disabled={isBusy.value || text.value === '' || !canAnswer}>
            {isFirst ? 'Send the first text' : 'Send from your app'}
          </button>
        </div>
      </form>
      {conversation.error.value !== '' && (
        <p class="bad composer-error" role="alert">
          {conversation.error.value}
          {!connection.value.online &&
            ' Your text stays here. If the gateway took it, the phone shows it when the connection is back.'}
        </p>
      )}
      {!canAnswer && <NoNumber contact={conversation.contact} />}
      <Faults conversation={conversation} />
    </div>
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

const COUNT_AFTER_MS = 400

/** How many SMS the text takes, as the gateway counts it. */
function Segments({ text }: { text: string }) {
  const segments = useSignal<number | null>(null)
  const sgw = client.value
  useEffect(() => {
    if (text === '' || sgw === null) return void (segments.value = null)
    const timer = setTimeout(() => {
      void sgw.sms.preview(text).then(
        (preview) => void (segments.value = preview.segments),
        () => undefined,
      )
    }, COUNT_AFTER_MS)
    return () => clearTimeout(timer)
  }, [text, sgw])
  return <span>{segments.value === null ? '' : segments.value === 1 ? '1 segment' : `${segments.value} segments`}</span>
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
