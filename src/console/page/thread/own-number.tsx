import { useSignal } from '@preact/signals'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { PhoneNumber, spokenNumber } from '../parts/phone-number.tsx'
import { open } from '../state/address.ts'
import { type Pair, type PairChoices, loadChoices } from './pair.ts'

/** Which of our numbers the text is from. Another one is another conversation with the contact. */
export function OwnNumber({ number, contact }: Pair) {
  const choices = useSignal<PairChoices>({ numbers: [number], contacts: [] })
  return (
    <Menu
      class="inline-choice"
      opened={() => void loadChoices(choices, number)}
      items={choices.value.numbers.map((choice) => ({
        label: spokenNumber(choice),
        isChosen: choice === number,
        run: () => open('conversations', { number: choice, contact }),
      }))}
    >
      <span class="hidden">Number </span>
      <PhoneNumber value={number} />
      <Icon name="down" />
    </Menu>
  )
}
