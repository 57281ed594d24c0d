import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type Clock, systemClock } from '../core/clock.ts'
import { type WebhookFailure, failureOf } from './failure.ts'
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
  /** As in a URL; IPv6 addresses may have brackets. */
  hostname: string
  /** The port that will be dialled: one of our own listeners is no destination in production. */
  port: number
  /** The tenant whose lookup it is; its lookups are bounded. */
  tenantId: string
}

export interface AddressGuardOptions {
  production: boolean
  /** Ranges that webhooks may reach although they are special, for example `10.0.0.0/8`. */
  allowCidrs: readonly string[]
  /** For tests: how names are resolved, and the time. */
  resolver?: Resolver
  clock?: Clock
}

/** A DNS answer may have thousands, and checking those would block the event loop. */
const MAX_ADDRESSES = 64

/** Decides where webhooks may go, so that no tenant's URL reaches this machine or its network (SSRF). */
export class AddressGuard {
  readonly #production: boolean
  readonly #allowed: readonly Range[]
  readonly #names: NameLookup
  readonly #own: { address: string; port: number }[] = []

  constructor(options: AddressGuardOptions) {
    this.#production = options.production
    this.#allowed = options.allowCidrs.map(parseRange)
    this.#names = new NameLookup(options.resolver ?? systemResolver(), options.clock ?? systemClock)
  }

  /** Whether the URL may be registered. Its name is not resolved: it may mean another address at delivery. */
  accepts(url: string): boolean {
    const parsed = parseWebhookUrl(url, this.#production)
    if (parsed === null) return false
    const host = bareHost(parsed.hostname)
    return isIP(host) === 0 || this.#allows(host)
  }

  /**
   * The address to dial for a URL's host name, or why there is none: `BlockedAddress`, `TimeoutError` after an
   * abort of `signal`, or the lookup's code. A name is denied if one of its addresses is, or if it has more than 64.
   * `others` are the name's further addresses, all allowed as well. Never rejects.
   */
  async resolve({ hostname, port, tenantId }: GuardQuery, signal: AbortSignal): Promise<GuardResult> {
    const host = bareHost(hostname)
    const found =
      isIP(host) === 0 ? await this.#names.find(host, tenantId, signal) : { ok: true as const, addresses: [host] }
    if (!found.ok) return found
    const [first, ...others] = ipv4First(found.addresses)
    if (
      first === undefined ||
      found.addresses.length > MAX_ADDRESSES ||
      !found.addresses.every((address) => this.#allows(address) && !this.#isOwn(address, port))
    ) {
      return { ok: false, ...failureOf({ code: 'BlockedAddress' }) }
    }
    return { ok: true, ...first, others }
  }

  /** Excludes one of our own listeners in production. Called once the listener has its port. */
  addOwn(address: string, port: number): void {
    this.#own.push({ address, port })
  }

  #allows(address: string): boolean {
    const forms = formsOf(address)
    return forms.length > 0 && forms.every((form) => this.#allowsForm(form))
  }

  #allowsForm(form: Address): boolean {
    const kind = kindOf(form)
    if (kind === 'public') return true
    if (kind === 'never') return false
    return (kind === 'inside' && !this.#production) || isIn(form, this.#allowed)
  }

  #isOwn(address: string, port: number): boolean {
    if (!this.#production) return false
    return this.#own.some((own) => own.port === port && listensOn(own.address, address))
  }
}

/** Many machines have no route over IPv6 although names have such addresses: IPv4 is tried first. */
function ipv4First(addresses: readonly string[]): Dialable[] {
  const dialable = addresses.map((address): Dialable => ({ address, family: isIP(address) === 6 ? 6 : 4 }))
  return dialable.toSorted((a, b) => a.family - b.family)
}

/** A listener on the unspecified address answers on every address of this machine. */
function listensOn(own: string, address: string): boolean {
  const key = keyOf(address)
  if (!formsOf(own).some((form) => kindOf(form) === 'never')) return keyOf(own) === key
  const ours = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return /^(127\.|::1$)/.test(key) || ours.some((entry) => keyOf(entry.address) === key)
}

/** One spelling for one address, whether IPv4-mapped or not. */
const keyOf = (address: string): string => formsOf(address)[0]?.toString() ?? address
