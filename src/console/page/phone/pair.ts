import type { Sgw } from '../../../client/client.ts'
import { param } from '../state/address.ts'
import { client, me } from '../state/caller.ts'
import { type Loading, useLoading } from '../state/loading.ts'
import { readStoredObject, writeStored } from '../state/settings.ts'
import { type Pair, isContact, isNumber } from '../thread/contact-forms.ts'
import { readPairChoices } from '../thread/pair-choices.ts'

/** A fictional number, which nobody has: 555-0100 to 555-0199 are reserved for fiction. */
const FIRST_CONTACT = '+15555550199'
const LAST_PAIR = 'sgw.pair'

/** The pair of the address; otherwise that of the last visit or of the last conversation, or the first number and a new contact. */
export function usePair(): { pair: Pair | null; loading: Loading<Pair | null> } {
  const sgw = client.value
  const loading = useLoading(async () => lastPair() ?? (sgw && findPair(sgw)), [sgw])
  const found = loading.value.value
  if (found === null || found.number === '') return { pair: null, loading }
  const number = isNumber(param('number')) ? param('number') : found.number
  const contact = isContact(param('contact')) ? param('contact') : found.contact
  const pair = { number, contact }
  writeStored('local', LAST_PAIR, JSON.stringify({ ...pair, tenantId: me.value?.tenantId }))
  return { pair, loading }
}

/** The pair of the last visit, if that was to the same tenant. */
function lastPair(): Pair | null {
  const { tenantId, number, contact } = readStoredObject<Pair & { tenantId: string }>(LAST_PAIR)
  return number && contact && tenantId === me.value?.tenantId ? { number, contact } : null
}

/** '' if no number is connected. */
async function findPair(sgw: Sgw): Promise<Pair> {
  const { numbers, contacts } = await readPairChoices(sgw, '')
  return { number: numbers[0] ?? '', contact: contacts[0] ?? FIRST_CONTACT }
}

/** A number for a new contact, different from all known ones. */
export function newContact(known: readonly string[]): string {
  const numbers = Array.from({ length: 90 }, (_, index) => `+15555550${199 - index}`)
  return numbers.find((number) => !known.includes(number)) ?? FIRST_CONTACT
}
