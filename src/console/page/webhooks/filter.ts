import type { DeliveryFilter, DeliveryOutcome } from '../../../client/client.ts'
import { oneOf, parseSearch } from '../search/parse-search.ts'
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

/** The filters of what was typed, an app by its name or its id; or why nothing is found by them. */
export function readSearch(typed: string, destinations: readonly { id: string; name: string }[]) {
  const { text, app, outcome, ...asked } = parseSearch(typed, FILTER_NAMES)
  if (text !== undefined)
    return { problem: `“${text}” is no filter. Try ${oneOf(FILTER_NAMES.map((name) => `${name}:`))}.` }
  if (outcome !== undefined && !Object.hasOwn(OUTCOMES, outcome))
    return { problem: `“${outcome}” is no outcome. Try ${oneOf(Object.keys(OUTCOMES))}.` }
  const known = destinations.find(({ name }) => name === app)
  return {
    asked: {
      ...asked,
      ...(outcome === undefined ? {} : { outcome }),
      ...(app === undefined ? {} : { app: known?.id ?? app }),
    },
  }
}
