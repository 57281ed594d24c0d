import type { Signal } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'
import { param } from '../state/address.ts'
import { client, me } from '../state/caller.ts'
import { type Loading, useLoading } from '../state/loading.ts'
import { readStored, writeStored } from '../state/settings.ts'

/** One number of ours and one contact. */
export interface Pair {
  number: string
  contact: string
}

/** What can be chosen instead. It is read when a menu opens. */
export interface PairChoices {
  numbers: readonly string[]
  contacts: readonly string[]
}

/** A number for fiction, which nobody has: 555-0100 to 555-0199 are reserved for it. */
const FIRST_CONTACT = '+15555550199'
const LAST_PAIR = 'sgw.pair'

/** The pair of the address; else that of the last visit, of the last conversation, or the first number and a new contact. */
export function usePair(): { pair: Pair | null; loading: Loading<Pair> } {
  const sgw = client.value
  const loading = useLoading(async () => lastPair() ?? findPair(sgw), [sgw])
  const found = loading.value.value
  if (found === null || found.number === '') return { pair: null, loading }
  const number = isNumber(param('number')) ? param('number') : found.number
  const contact = isContact(param('contact')) ? param('contact') : found.contact
  const pair = { number, contact }
  writeStored('local', LAST_PAIR, JSON.stringify({ ...pair, tenantId: me.value?.tenantId }))
  return { pair, loading }
}

/** Whether a text can be sent there. */
export const isNumber = (value: string): boolean => /^\+[1-9]\d{8,14}$/.test(value)

/** Whether somebody can have texted from there: from a number, a short code or a sender's name. Anything else is not remembered. */
const isContact = (value: string): boolean => /^\P{C}{1,64}$/u.test(value)

/** The pair of the last visit, if it was the same tenant. */
function lastPair(): Pair | null {
  try {
    const { tenantId, number, contact } = JSON.parse(readStored('local', LAST_PAIR) ?? '{}') as Partial<
      Pair & { tenantId: string }
    >
    return tenantId === me.value?.tenantId && number && contact ? { number, contact } : null
  } catch {
    return null
  }
}

/** Without a connected number it is ''. */
async function findPair(sgw: Sgw | null): Promise<Pair> {
  if (sgw === null) return { number: '', contact: FIRST_CONTACT }
  const { numbers, contacts } = await readPairChoices(sgw, '')
  return { number: numbers[0] ?? '', contact: contacts[0] ?? FIRST_CONTACT }
}

/** Our numbers, that of the last conversation first, and the contacts of `number`; without one those of the first number. */
async function readPairChoices(sgw: Sgw, number: string): Promise<PairChoices> {
  const [extensions, page] = await Promise.all([sgw.connection.extensions(), sgw.conversations({ limit: 50 }).page(1)])
  const known = page.conversations
  const connected = extensions.flatMap(({ phoneNumbers }) => phoneNumbers)
  const last = known.map((pair) => pair.number).filter((own) => connected.includes(own))
  const own = [...new Set([...last.slice(0, 1), ...connected])]
  const of = number || own[0]
  return { numbers: own, contacts: known.filter((pair) => pair.number === of).map(({ contact }) => contact) }
}

/** Fills the choices when a menu opens. */
export async function loadChoices(choices: Signal<PairChoices>, number: string): Promise<void> {
  if (client.value !== null) choices.value = await readPairChoices(client.value, number).catch(() => choices.value)
}

/** A number for a new contact, which none of the known ones has. */
export async function newContact({ number, contact }: Pair): Promise<string> {
  const sgw = client.value
  const known =
    sgw === null
      ? []
      : await readPairChoices(sgw, number).then(
          ({ contacts }) => contacts,
          () => [],
        )
  for (let last = 199; last >= 110; last--)
    if (![contact, ...known].includes(`+15555550${last}`)) return `+15555550${last}`
  return FIRST_CONTACT
}
