import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { client } from '../state/caller.ts'

/** The number and the contact that are shown, and those that could be. */
export interface Pair {
  number: string
  contact: string
  numbers: readonly string[]
  contacts: readonly string[]
}

/** A number for fiction, which nobody has: 555-0100 to 555-0199 are reserved for it. */
const FIRST_CONTACT = '+15555550199'

/** The chosen pair; without a choice that of the last conversation, else the first number and a new contact. */
export function usePair(number: string, contact: string): Pair | null {
  const known = useSignal<{ numbers: readonly string[]; last: readonly { number: string; contact: string }[] } | null>(
    null,
  )
  const sgw = client.value
  useEffect(() => {
    if (sgw === null) return
    const read = async (): Promise<void> => {
      const [extensions, conversations] = await Promise.all([
        sgw.connection.extensions(),
        sgw.conversations({ limit: 20 }).page(1),
      ])
      known.value = {
        numbers: extensions.flatMap(({ phoneNumbers }) => phoneNumbers),
        last: conversations.conversations,
      }
    }
    read().catch(() => void (known.value = { numbers: [], last: [] }))
  }, [sgw])
  if (known.value === null) return null
  const { numbers, last } = known.value
  const own = number || (last[0]?.number ?? numbers[0] ?? '')
  const other = contact || (last.find((pair) => pair.number === own)?.contact ?? FIRST_CONTACT)
  return { number: own, contact: other, numbers, contacts: [...new Set([other, ...last.map((pair) => pair.contact)])] }
}

/** A number for a new contact, which none of the known ones has. */
export function nextContact(contacts: readonly string[]): string {
  for (let last = 199; last >= 110; last--) if (!contacts.includes(`+15555550${last}`)) return `+15555550${last}`
  return FIRST_CONTACT
}
