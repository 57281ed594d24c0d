import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ExtensionHealth, Sgw } from '../../../client/client.ts'
import { facetsOf, hinted } from '../search/facet.ts'
import type { FacetValue } from '../search/filters.ts'
import type { FieldParts } from '../search/search-field.tsx'
import { lastWord } from '../search/suggest.ts'
import { timesAt } from '../search/suggested-times.ts'
import { Suggestions } from '../search/suggestions.tsx'
import { appIds, readNames } from '../state/caller.ts'
import { now } from '../state/clock.ts'
import { FAILURES } from './failures.ts'
import { FILTERS, STATE_HINTS, SUGGESTED } from './filters.ts'
import type { MessageList } from './list-state.ts'
import { contactOf, ownNumberOf } from './row.ts'

export { askedBy } from './asked-by.ts'

interface MessageSuggestionsProps extends FieldParts {
  list: MessageList
  /** Null until they are known. */
  extensions: readonly ExtensionHealth[] | null
}

/** What the field can filter by: filters, and values from the loaded rows. Contacts that are not in the rows are read once. */
export default function MessageSuggestions({ list, extensions, ...field }: MessageSuggestionsProps) {
  useEffect(() => void readNames(), [list.sgw])
  useContacts(list.sgw, field.typed.value)
  const rows = list.rows.value
  const filters = { ...FILTERS, state: { values: STATE_HINTS } }
  const values = {
    apps: () => plain(appIds.value.keys()),
    numbers: () =>
      distinct([...(extensions ?? []).flatMap(numbersOf), ...rows.map((row) => ({ value: ownNumberOf(row) }))]),
    contacts: () => distinct([...plain(rows.map(contactOf)), ...contactsOf(list.sgw)]),
    users: () => plain(rows.flatMap(({ userId }) => userId ?? [])),
    times: timesAt(now.peek()),
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

/** Contacts of messages older than the loaded ones, read once per app. */
const known = signal<{ sgw: Sgw; contacts: readonly FacetValue[] } | null>(null)
const contactsOf = (sgw: Sgw): readonly FacetValue[] => (known.value?.sgw === sgw ? known.value.contacts : [])
let askedBy: Sgw | null = null

const ASK_AFTER_MS = 300
const MAX_CONTACTS = 100

/** Reads the newest contacts when somebody types a filter by contact, once the typing pauses. */
function useContacts(sgw: Sgw, typed: string): void {
  useEffect(() => {
    if (askedBy === sgw || !/^(contact|to|from):/.test(lastWord(typed))) return
    const timer = setTimeout(() => {
      askedBy = sgw
      readContacts(sgw).catch(() => void (askedBy = null))
    }, ASK_AFTER_MS)
    return () => clearTimeout(timer)
  }, [sgw, typed])
}

async function readContacts(sgw: Sgw): Promise<void> {
  const { conversations } = await sgw.conversations({ limit: MAX_CONTACTS }).page(1)
  known.value = { sgw, contacts: conversations.map(({ contact }) => ({ value: contact })) }
}
