import { SearchField } from '../search/search-field.tsx'
import { typedNumber, unquoted } from '../search/typed-number.ts'
import { open } from '../state/address.ts'
import { whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import { isContact } from '../thread/contact-forms.ts'
import { type Pair, readPairChoices } from '../thread/pair.ts'
import type { ConversationList } from './conversation-list.ts'

/** Finds a conversation by the last digits of its contact, opens or starts one if a full number is typed, and searches Messages for words. */
export const ConversationSearch = ({ list }: { list: ConversationList }) => (
  <SearchField
    label="Search conversations"
    placeholder="0142  +15035550142  words of a text"
    chips={list.ends === '' ? [] : [{ name: 'ends', value: list.ends, said: list.ends }]}
    read={(typed) => whileSignedIn(asked(list, typed.trim())).catch(failureText)}
    suggest={() => null}
  />
)

/** The filter of the list from then on: none if a conversation was opened. */
async function asked(list: ConversationList, typed: string): Promise<Record<string, string> | string> {
  if (typed === '') return {}
  const number = typedNumber(typed)
  if (number === null) return openWords(list, typed)
  if ('contact' in number) return openNumber(list, number.contact)
  const { conversations, total } = await list.sgw.conversations({ contactEndsWith: number.ends, limit: 1 }).page(1)
  const [only] = conversations
  return total === 1 && only !== undefined ? show(only) : number
}

/** The newest conversation with the contact, or a new one from the tenant's most recently used number. */
async function openNumber(list: ConversationList, contact: string): Promise<Record<string, string> | string> {
  const known = await newestWith(list, contact)
  if (known !== undefined) return show(known)
  const [number] = (await readPairChoices(list.sgw, '')).numbers
  return number === undefined ? 'No number is connected yet, so no text can be sent.' : show({ number, contact })
}

/** A sender's name has a conversation; search for other words in texts. */
async function openWords(list: ConversationList, typed: string): Promise<Record<string, string>> {
  const known = isContact(typed) ? await newestWith(list, typed) : undefined
  if (known !== undefined) return show(known)
  open('messages', { text: unquoted(typed) })
  return {}
}

const newestWith = async (list: ConversationList, contact: string): Promise<Pair | undefined> =>
  list.rows.value.find((row) => row.contact === contact) ??
  (await list.sgw.conversations({ contact, limit: 1 }).page(1)).conversations[0]

function show({ number, contact }: Pair): Record<string, string> {
  open('conversations', { number, contact })
  return {}
}
