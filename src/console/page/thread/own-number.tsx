import { useSignal } from '@preact/signals'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { PhoneNumber, spokenNumber } from '../parts/phone-number.tsx'
import { open } from '../state/address.ts'
import { standing } from '../state/standing.ts'
import { cannotSendOf } from './cannot-send.ts'
import { type Pair, type PairChoices, loadChoices } from './pair.ts'

/** The tenant's number from which the text is sent. A different number is a different conversation with the contact. */
export function OwnNumber({ number, contact }: Pair) {
  const choices = useSignal<PairChoices>({ numbers: [number], contacts: [], silent: [] })
  const known = standing.value
  const isSilent = known !== null && cannotSendOf([number], known.extensions).length > 0
  return (
    <Menu
      class="inline-choice"
      opened={() => void loadChoices(choices, number)}
      items={choices.value.numbers.map((choice) => ({
        label: spokenNumber(choice),
        hint: choices.value.silent.includes(choice) ? 'cannot send' : '',
        isChosen: choice === number,
        run: () => open('conversations', { number: choice, contact }),
      }))}
    >
      <span class="hidden">Number </span>
      <PhoneNumber value={number} />
      {isSilent && (
        <span class="bad line">
          <Icon name="failed" />
          {/* One line has no room for the words; the sentence above the field says them. */}
          <span class="hidden-on-phone">cannot send</span>
        </span>
      )}
      <Icon name="down" />
    </Menu>
  )
}
