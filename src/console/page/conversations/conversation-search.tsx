import { SearchField } from '../search/search-field.tsx'
import { typedNumber, unquoted } from '../search/typed-number.ts'
import { open } from '../state/address.ts'
import { whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import { type Pair, isContact } from '../thread/contact-forms.ts'
import { readPairChoices } from '../thread/pair-choices.ts'
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

/**
 * The filter of the list from then on: none if a conversation was opened. A sender's name has a conversation; search for other words in texts.
 */
async function asked({ sgw, rows }: ConversationList, typed: string): Promise<Record<string, string> | string> {
  if (typed === '') return {}
  const number = typedNumber(typed)
  if (number !== null && 'ends' in number) {
    const { conversations, total } = await sgw.conversations({ contactEndsWith: number.ends, limit: 1 }).page(1)
    return total === 1 ? show(conversations[0]) : number
  }
  const contact = number?.contact ?? typed
  const loaded = rows.value.find((row) => row.contact === contact)
  if (loaded !== undefined) return show(loaded)
  const [known] = isContact(contact) ? (await sgw.conversations({ contact, limit: 1 }).page(1)).conversations : []
  if (known !== undefined) return show(known)
  if (number === null) {
    open('messages', { text: unquoted(typed) })
    return {}
  }
  const [own] = (await readPairChoices(sgw, '')).numbers
  return own === undefined ? 'No number is connected yet, so no text can be sent.' : show({ number: own, contact })
}

function show(pair: Pair | undefined): Record<string, string> {
  if (pair !== undefined) open('conversations', { number: pair.number, contact: pair.contact })
  return {}
}
