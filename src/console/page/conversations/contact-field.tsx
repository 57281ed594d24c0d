import { useSignal } from '@preact/signals'
import { Icon } from '../parts/icon.tsx'
import { Problem } from '../search/problem.tsx'
import { open } from '../state/address.ts'
import { whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import { type Pair, isContact, isNumber, readPairChoices } from '../thread/pair.ts'
import type { ConversationList } from './conversation-list.ts'
import '../style/boxed.css'

/** Opens the conversation with a contact whose number is typed, or starts one. */
export function ContactField({ list }: { list: ConversationList }) {
  const typed = useSignal('')
  const problem = useSignal('')
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (typed.value.trim() === '') return
    problem.value = await openTyped(list, typed.value)
    if (problem.value === '') typed.value = ''
  }
  return (
    <>
      <form class="line boxed search" onSubmit={(event) => void submit(event)}>
        <Icon name="search" />
        <input
          data-search
          aria-label="Number of a contact"
          placeholder="Open or start: +15035550142"
          autoComplete="off"
          value={typed.value}
          aria-invalid={problem.value !== ''}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value
            problem.value = ''
          }}
          onKeyDown={({ key, currentTarget }) => void (key === 'Escape' && currentTarget.blur())}
        />
        {typed.value === '' ? (
          <kbd aria-hidden="true">/</kbd>
        ) : (
          <button type="submit" class="button quiet">
            Open
          </button>
        )}
      </form>
      <Problem problem={problem} />
    </>
  )
}

/** Opens the conversation; returns why it cannot, '' if it did. */
async function openTyped(list: ConversationList, typed: string): Promise<string> {
  try {
    const pair = await whileSignedIn(pairFor(list, typed))
    if (typeof pair === 'string') return pair
    open('conversations', { number: pair.number, contact: pair.contact })
    return ''
  } catch (error) {
    return failureText(error)
  }
}

/** The newest conversation with the contact, or a new one from our number that was used last; else why there can be none. */
async function pairFor(list: ConversationList, typed: string): Promise<Pair | string> {
  const contact = contactOf(typed)
  if (!isContact(contact)) return 'A contact has at most 64 characters: a number, a short code or a name.'
  const loaded = list.rows.value.find((row) => row.contact === contact)
  const known = loaded ?? (await list.sgw.conversations({ contact, limit: 1 }).page(1)).conversations[0]
  if (known !== undefined) return known
  if (!isNumber(contact))
    return `Nothing came from “${contact}” yet. A text goes to a number with its country, as +15035550142.`
  const [number] = (await readPairChoices(list.sgw, '')).numbers
  return number === undefined ? 'No number is connected yet, so no text can be sent.' : { number, contact }
}

/** A number as people write it, `+1 (503) 555-0142`, becomes `+15035550142`. Anything else stays as it is. */
const contactOf = (typed: string): string =>
  /^\s*\+[\d\s().-]*$/.test(typed) ? typed.replaceAll(/[^+\d]/g, '') : typed.trim()
