import type { DeliveryFilter, DeliveryOutcome } from '../../../client/client.ts'
import { OUTCOMES } from './words.ts'

/** The parameters of the address that filter attempts. */
export const FILTER_NAMES = ['app', 'trigger', 'message', 'outcome'] as const
export type Filter = Readonly<Partial<Record<(typeof FILTER_NAMES)[number], string>>>

/** The filter of an address. */
export const filterOf = (params: Readonly<Record<string, string>>): Filter =>
  Object.fromEntries(FILTER_NAMES.flatMap((name) => (params[name] ? [[name, params[name]]] : [])))

/** The API's query of a filter. An outcome that the API does not know is its to refuse. */
export const queryOf = ({ app, trigger, message, outcome }: Filter): DeliveryFilter => ({
  appId: app,
  triggerId: trigger,
  messageId: message,
  outcome: outcome as DeliveryOutcome | undefined,
})

/** The tabs above the attempts: each is one outcome of the API. */
export const TABS: readonly { name: string; outcome: string }[] = [
  { name: 'All', outcome: '' },
  ...Object.entries(OUTCOMES).map(([outcome, name]) => ({ name, outcome })),
]

/** The key of an attempt in the list and in the address. */
export const keyOf = ({ deliveryId, attemptNumber }: { deliveryId: string; attemptNumber: number }): string =>
  `${deliveryId} ${attemptNumber}`

/** What `id` of the address opens: a destination, or the delivery of an attempt. */
export function openedOf(id: string): { destination: string } | { deliveryId: string; messageId: string } | null {
  if (id === '') return null
  if (/^(app|trg)_/.test(id)) return { destination: id }
  const [deliveryId = ''] = id.split(' ')
  return { deliveryId, messageId: deliveryId.split(':')[0] ?? '' }
}
