import type { Config } from '../core/config.ts'
import { errorText } from '../core/errors.ts'
import { AddressGuard, guardRules } from '../net/outbound/address-guard.ts'
import { bareHost } from '../net/outbound/webhook-url.ts'
import { hintOf } from './hints.ts'

const ADDRESS_ERRORS = [errorText('badWebhookUrl'), errorText('badCallbackUrl')]

const LITERALS = ['127.0.0.1', '[::1]']

/** Advice for a refused request: that of its error, or which address to write instead of `localhost`, if the gateway accepts that one. */
export function adviceFor(error: string, config: Config, body: unknown): string {
  const literal = ADDRESS_ERRORS.includes(error) ? acceptedLiteral(config, body) : undefined
  return literal === undefined ? hintOf(error) : `: write ${literal} instead of localhost`
}

function acceptedLiteral(config: Config, body: unknown): string | undefined {
  // Only a server in production refuses such an address, whatever the environment of this command.
  const guard = new AddressGuard({ ...guardRules(config), production: true })
  const url = Object.values(body ?? {})
    .map((value) => (typeof value === 'string' ? URL.parse(value) : null))
    .find((parsed) => parsed !== null && bareHost(parsed.hostname) === 'localhost')
  if (url === null || url === undefined) return undefined
  return LITERALS.find((host) => guard.accepts(Object.assign(new URL(url), { hostname: host }).href))
}
