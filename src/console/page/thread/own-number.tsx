import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { PhoneNumber, spokenNumber } from '../parts/phone-number.tsx'
import { open } from '../state/address.ts'
import { standing } from '../state/standing.ts'
import { type Pair, cannotSendOf } from './contact-forms.ts'
import { usePairChoices } from './pair-choices.ts'

/** The tenant's number from which the text is sent. A different number is a different conversation with the contact. */
export function OwnNumber({ number, contact }: Pair) {
  const choices = usePairChoices(number)
  const numbers = choices.numbers.length === 0 ? [number] : choices.numbers
  const silent = cannotSendOf([number, ...numbers], standing.value?.extensions)
  return (
    <Menu
      class="inline-choice"
      opened={() => void choices.read()}
      items={numbers.map((choice) => ({
        label: spokenNumber(choice),
        hint: silent.includes(choice) ? 'cannot send' : '',
        isChosen: choice === number,
        run: () => open('conversations', { number: choice, contact }),
      }))}
    >
      <span class="hidden">Number </span>
      <PhoneNumber value={number} />
      {silent.includes(number) && (
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
