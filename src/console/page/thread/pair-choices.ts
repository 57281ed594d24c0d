import { useSignal } from '@preact/signals'
import type { Sgw } from '../../../client/client.ts'
import { client } from '../state/caller.ts'
import { cannotSendOf } from './contact-forms.ts'

interface PairChoices {
  numbers: readonly string[]
  contacts: readonly string[]
}

/**
 * The tenant's numbers, those that can send first, led by that of the last conversation; and the contacts of `number`, by default of the first
 * number.
 */
export async function readPairChoices(sgw: Sgw, number: string): Promise<PairChoices> {
  const [extensions, page] = await Promise.all([sgw.connection.extensions(), sgw.conversations({ limit: 50 }).page(1)])
  const known = page.conversations
  const connected = extensions.flatMap(({ phoneNumbers }) => phoneNumbers)
  const silent = cannotSendOf(connected, extensions)
  const sending = connected.filter((own) => !silent.includes(own))
  const last = known.map((pair) => pair.number).filter((own) => sending.includes(own))
  const own = [...new Set([...last.slice(0, 1), ...sending, ...silent])]
  const of = number || own[0]
  return { numbers: own, contacts: known.filter((pair) => pair.number === of).map(({ contact }) => contact) }
}

/** The choices of a menu, which are read when it opens. */
export function usePairChoices(number: string) {
  const choices = useSignal<PairChoices>({ numbers: [], contacts: [] })
  const read = async (): Promise<PairChoices> => {
    if (client.value !== null) choices.value = await readPairChoices(client.value, number).catch(() => choices.value)
    return choices.value
  }
  return { ...choices.value, read }
}
