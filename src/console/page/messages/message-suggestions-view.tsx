import { useEffect, useRef } from 'preact/hooks'
import type { ExtensionHealth, Sgw } from '../../../client/client.ts'
import { facetsOf, hinted } from '../search/facet.ts'
import type { FacetValue } from '../search/filters.ts'
import type { FieldParts } from '../search/search-field.tsx'
import { parseSearch } from '../search/parse-search.ts'
import { lastWord } from '../search/suggest.ts'
import { timesAt } from '../search/suggested-times.ts'
import { Suggestions } from '../search/suggestions.tsx'
import { typedNumber, unquoted } from '../search/typed-number.ts'
import { appIds, readNames } from '../state/caller.ts'
import { now } from '../state/clock.ts'
import { useLoading } from '../state/loading.ts'
import { standing } from '../state/standing.ts'
import { FAILURES } from './failures.ts'
import { FILTERS, STATE_HINTS, SUGGESTED, WORDS } from './filters.ts'
import type { MessageList } from './list-state.ts'
import { problemOf } from './problem.ts'
import { contactOf, ownNumberOf } from './row.ts'

/** The filters of what was typed, or why they cannot be asked for. Digits alone are the end of a contact's number; in quotes they are words. */
export function askedBy(typed: string): Readonly<Record<string, string>> | string {
  // The last two are words from older versions, which the view turns into a state.
  const { text, ...filter } = parseSearch(typed, [...WORDS, 'status', 'direction'])
  const asked = text === undefined ? filter : { ...filter, ...(typedNumber(text) ?? { text: unquoted(text) }) }
  return problemOf(asked) ?? asked
}

/** What the field can filter by: filters, and values from the loaded rows. Contacts that are not in the rows are read once. */
export default function MessageSuggestions({ list, ...field }: FieldParts & { list: MessageList }) {
  useEffect(() => void readNames(), [list.sgw])
  const contacts = useContacts(list.sgw, field.typed.value)
  const rows = list.rows.value
  const extensions = standing.value?.extensions ?? []
  const filters = { ...FILTERS, state: { values: STATE_HINTS } }
  const values = {
    apps: () => plain(appIds.value.keys()),
    numbers: () => distinct([...extensions.flatMap(numbersOf), ...rows.map((row) => ({ value: ownNumberOf(row) }))]),
    contacts: () => distinct([...plain(rows.map(contactOf)), ...contacts]),
    users: () => plain(rows.flatMap(({ userId }) => userId ?? [])),
    times: () => timesAt(now.peek()),
    failures: () => FAILURE_VALUES,
  }
  return <Suggestions facets={facetsOf(filters, SUGGESTED, values)} {...field} />
}

const numbersOf = ({ phoneNumbers, extensionNumber, name }: ExtensionHealth): FacetValue[] =>
  phoneNumbers.map((value) => ({
    value,
    hint: name ?? (extensionNumber === null ? '' : `Extension ${extensionNumber}`),
  }))

const FAILURE_VALUES = hinted(Object.fromEntries(Object.entries(FAILURES).map(([word, [, short]]) => [word, short])))

const plain = (values: Iterable<string>): FacetValue[] => [...new Set(values)].map((value) => ({ value }))

const distinct = (values: readonly FacetValue[]): FacetValue[] =>
  [...new Map(values.toReversed().map((each) => [each.value, each])).values()].toReversed()

const MAX_CONTACTS = 100

/** The newest contacts, once a filter by contact is typed. */
function useContacts(sgw: Sgw, typed: string): readonly FacetValue[] {
  const isAsked = useRef(false)
  isAsked.current ||= /^(contact|to|from):/.test(lastWord(typed))
  const read = async () =>
    isAsked.current ? (await sgw.conversations({ limit: MAX_CONTACTS }).page(1)).conversations : []
  const { value } = useLoading(read, [sgw, isAsked.current])
  return plain(value.value?.map(({ contact }) => contact) ?? [])
}
