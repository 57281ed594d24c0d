import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type Clock, systemClock } from '../../core/clock.ts'
import type { Config } from '../../core/config.ts'
import { type WebhookFailure, blockedAddress } from './failure.ts'
import { NameLookup } from './name-lookup.ts'
import { type Address, formsOf, isIn, kindOf, parseRange, type Range } from './special-addresses.ts'
import { type Resolver, systemResolver } from './system-resolver.ts'
import { bareHost, parseWebhookUrl } from './webhook-url.ts'

export type GuardResult = ({ ok: true; others: readonly Dialable[] } & Dialable) | ({ ok: false } & WebhookFailure)

/** A checked address, without brackets. */
export interface Dialable {
  address: string
  family: 4 | 6
}

export interface GuardQuery {
  /** The host name of a URL; IPv6 addresses may have brackets. */
  hostname: string
  /** The port to dial. In production, the gateway's own listeners are not valid destinations. */
  port: number
  /** Lookups are bounded per tenant. */
  tenantId: string
}

export interface AddressGuardOptions {
  production: boolean
  /** Special ranges that webhooks may reach anyway, for example `10.0.0.0/8`. */
  allowCidrs: readonly string[]
  /** Whether production accepts `http://` to a literal address in these ranges. */
  plainHttp?: boolean
  /** For tests: how names are resolved, and the time. */
  resolver?: Resolver
  clock?: Clock
}

/** The operator's rules. */
export const guardRules = (
  config: Pick<Config, 'production' | 'webhookAllowCidrs' | 'hasPublicUrl'>,
): AddressGuardOptions => ({
  production: config.production,
  allowCidrs: config.webhookAllowCidrs,
  plainHttp: !config.hasPublicUrl,
})

/** A DNS answer may have thousands of addresses, and checking them would block the event loop. */
const MAX_ADDRESSES = 64

/** Decides where webhooks may go, so that no tenant's URL reaches this machine or its network (SSRF). */
export class AddressGuard {
  readonly #production: boolean
  readonly #allowed: readonly Range[]
  readonly #plainHttp: boolean
  readonly #names: NameLookup
  readonly #own: { address: string; port: number }[] = []

  constructor(options: AddressGuardOptions) {
    this.#production = options.production
    this.#allowed = options.allowCidrs.map(parseRange)
    this.#plainHttp = options.plainHttp ?? false
    this.#names = new NameLookup(options.resolver ?? systemResolver(), options.clock ?? systemClock)
  }

  /** Whether the URL may be registered. Does not resolve its name, which may have another address at delivery. */
  accepts(url: string): boolean {
    return this.refusal(url) === null
  }

  /** Why the URL may not be registered; null if it may. */
  refusal(url: string): WebhookFailure | null {
    const parsed = parseWebhookUrl(url, this.#production, this.#plainHttp)
    if (parsed === null) return blockedAddress(false)
    const host = bareHost(parsed.hostname)
    if (isIP(host) === 0) return null
    const isAllowed = this.#allows(host) && (!this.#production || parsed.protocol === 'https:' || this.#isListed(host))
    return isAllowed ? null : blockedAddress(isListable(host))
  }

  /**
   * Returns the address to dial for a URL's host name, or why there is none: `BlockedAddress`, `TimeoutError` after an abort of
   * `signal`, or the lookup's code. A name is refused if one of its addresses is refused, or if it has more than 64. `others` are
   * the name's further addresses, which are allowed as well. Never rejects.
   */
  async resolve({ hostname, port, tenantId }: GuardQuery, signal: AbortSignal): Promise<GuardResult> {
    const host = bareHost(hostname)
    const found =
      isIP(host) === 0 ? await this.#names.find(host, tenantId, signal) : { ok: true as const, addresses: [host] }
    if (!found.ok) return found
    const [first, ...others] = ipv4First(found.addresses)
    if (first === undefined || found.addresses.length > MAX_ADDRESSES || this.#hasOwn(found.addresses, port))
      return { ok: false, ...blockedAddress(false) }
    const refused = found.addresses.filter((address) => !this.#allows(address))
    return refused.length === 0
      ? { ok: true, ...first, others }
      : { ok: false, ...blockedAddress(refused.every(isListable)) }
  }

  /** Refuses the gateway's own listeners in production. Call when the listener has its port. */
  addOwn(address: string, port: number): void {
    this.#own.push({ address, port })
  }

  #allows(address: string): boolean {
    const forms = formsOf(address)
    return forms.length > 0 && forms.every((form) => this.#allowsForm(form))
  }

  #isListed(address: string): boolean {
    return formsOf(address).every((form) => isIn(form, this.#allowed))
  }

  #allowsForm(form: Address): boolean {
    const kind = kindOf(form)
    if (kind === 'public') return true
    if (kind === 'never') return false
    return (kind === 'inside' && !this.#production) || isIn(form, this.#allowed)
  }

  #hasOwn(addresses: readonly string[], port: number): boolean {
    if (!this.#production) return false
    return this.#own.some((own) => own.port === port && addresses.some((address) => listensOn(own.address, address)))
  }
}

/** Whether WEBHOOK_ALLOW_CIDRS can allow the address. */
function isListable(address: string): boolean {
  const forms = formsOf(address)
  return forms.length > 0 && forms.every((form) => kindOf(form) !== 'never')
}

/** IPv4 comes first, because many machines have no IPv6 route although names have IPv6 addresses. */
function ipv4First(addresses: readonly string[]): Dialable[] {
  const dialable = addresses.map((address): Dialable => ({ address, family: isIP(address) === 6 ? 6 : 4 }))
  return dialable.toSorted((a, b) => a.family - b.family)
}

/**
 * A listener on the unspecified address answers on every address of this machine; a listener on a name, on every address that the name has
 * here.
 */
function listensOn(own: string, address: string): boolean {
  const key = keyOf(address)
  const forms = formsOf(own)
  if (forms.length > 0 && !forms.some((form) => kindOf(form) === 'never')) return keyOf(own) === key
  const ours = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return /^(127\.|::1$)/.test(key) || ours.some((entry) => keyOf(entry.address) === key)
}

/** One spelling for each address, whether IPv4-mapped or not. */
const keyOf = (address: string): string => formsOf(address)[0]?.toString() ?? address
