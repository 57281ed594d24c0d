import { type ExtensionRow, hasNumbers } from '../../provider/directory.ts'
import { isTokenUsable } from '../../provider/refresh-policy.ts'
import type { Gateway } from '../gateway.ts'
import { type Trouble, troublesOf } from './extension-trouble.ts'

/** The most important trouble that keeps an extension from sending; undefined if it can send. The caller has read the tenant. */
export const whyUnableToSend = (gateway: Gateway, row: ExtensionRow): Trouble | undefined =>
  troublesOf(gateway, row, null).find((trouble) => keepsFromSending(gateway, row, trouble))

/** Another alert reports refreshes that fail because of the provider's own trouble: they recover without help. */
function keepsFromSending(gateway: Gateway, row: ExtensionRow, { kind, step, group }: Trouble): boolean {
  const { directory, providerState } = gateway
  if (kind === 'revoked' || kind === 'unknown_numbers' || step === 'send' || group === 'medium') return true
  if (kind === 'refresh') return !providerState.isInTrouble && !isTokenUsable(row, gateway)
  return step === 'numbers' && !hasNumbers(directory, row)
}
