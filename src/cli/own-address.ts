import { isIP } from 'node:net'
import type { Config } from '../core/config.ts'
import { errorText } from '../core/errors.ts'
import { AddressGuard, guardRules } from '../net/outbound/address-guard.ts'
import { bareHost } from '../net/outbound/webhook-url.ts'
import { hintOf } from './hints.ts'

const ADDRESS_ERRORS = [errorText('badWebhookUrl'), errorText('badCallbackUrl')]

const LITERALS = ['127.0.0.1', '[::1]']

/**
 * Advice for a refused request: the advice for its error, or an address to write instead of `localhost` if the gateway accepts it, or the
 * variable that would allow the address.
 */
export function adviceFor(error: string, config: Config, body: unknown): string {
  if (!ADDRESS_ERRORS.includes(error)) return hintOf(error)
  const urls = Object.values(body ?? {}).flatMap((value) => (typeof value === 'string' ? (URL.parse(value) ?? []) : []))
  const literal = acceptedLiteral(config, urls)
  if (literal !== undefined) return `: write ${literal} instead of localhost`
  const unlisted = urls.find((url) => isUnlisted(config, url))
  return unlisted === undefined ? hintOf(error) : `: ${listIt(unlisted)}`
}

// Only a server in production refuses such an address; this command's own environment says nothing about that.
const guardWith = (config: Config, more: readonly string[]): AddressGuard =>
  new AddressGuard({
    ...guardRules(config),
    allowCidrs: [...config.webhookAllowCidrs, ...more],
    production: true,
  })

function acceptedLiteral(config: Config, urls: readonly URL[]): string | undefined {
  const guard = guardWith(config, [])
  const url = urls.find(({ hostname }) => bareHost(hostname) === 'localhost')
  if (url === undefined) return undefined
  return LITERALS.find((host) => guard.accepts(Object.assign(new URL(url), { hostname: host }).href))
}

/** Whether the address would be accepted if WEBHOOK_ALLOW_CIDRS had it. */
function isUnlisted(config: Config, url: URL): boolean {
  const host = bareHost(url.hostname)
  return (
    isIP(host) !== 0 &&
    !guardWith(config, []).accepts(url.href) &&
    guardWith(config, [`${host}/${isIP(host) === 4 ? 32 : 128}`]).accepts(url.href)
  )
}

function listIt({ hostname, protocol }: URL): string {
  const host = bareHost(hostname)
  const only = protocol === 'http:' ? ' (http:// needs that, and no PUBLIC_URL)' : ''
  return `${host} is not in WEBHOOK_ALLOW_CIDRS: set WEBHOOK_ALLOW_CIDRS=${host} (in addition to what it has), and restart${only}`
}
