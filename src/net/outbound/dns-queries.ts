import { Resolver as DnsClient } from 'node:dns'

export interface ResolvedAddress {
  address: string
  family: number
}

export interface DnsAnswer {
  addresses: ResolvedAddress[]
  /** `ENOTFOUND`, or what prevented a complete answer: `ETIMEOUT`, `ESERVFAIL`, `EREFUSED`, `EAI_AGAIN` … */
  failure: string
}

/** Bun checks c-ares' timeouts once a second, so the second query is sent after one second, and the third never. */
const CLIENT_OPTIONS = { timeout: 500, tries: 3 }
/** Limits how long a client is used: it reads /etc/resolv.conf only when it is made, and its cache has no other bound. */
const MAX_CLIENT_AGE_MS = 30_000
const MAX_CLIENT_LOOKUPS = 20
const MAX_IDLE_CLIENTS = 16

interface IdleClient {
  client: DnsClient
  madeAt: number
  lookups: number
}

/**
 * Queries DNS servers with c-ares, on the event loop. A running lookup has a client of its own, so that it can be cancelled
 * without others. Making a client takes ten times as long as a lookup, so clients are reused.
 */
export class DnsQueries {
  readonly #servers: readonly string[] | null
  readonly #idle: IdleClient[] = []

  /** `servers`: `address:port`; null for the servers of this machine. */
  constructor(servers: readonly string[] | null) {
    this.#servers = servers
  }

  /** Finds the IPv4 and IPv6 addresses of a full name. An abort of `signal` cancels unanswered queries. Never rejects. */
  async addresses(name: string, signal: AbortSignal): Promise<DnsAnswer> {
    if (signal.aborted) return { addresses: [], failure: 'ETIMEOUT' }
    const used = this.#take()
    const cancel = (): void => used.client.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    const families = await Promise.all([query(used.client, 4, name), query(used.client, 6, name)])
    signal.removeEventListener('abort', cancel)
    if (this.#idle.length < MAX_IDLE_CLIENTS) this.#idle.push({ ...used, lookups: used.lookups + 1 })
    return {
      addresses: families.flatMap((family) => family.addresses),
      failure: families.find(({ failure }) => failure !== 'ENOTFOUND')?.failure ?? 'ENOTFOUND',
    }
  }

  #take(): IdleClient {
    const oldest = performance.now() - MAX_CLIENT_AGE_MS
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop())
      if (idle.madeAt > oldest && idle.lookups < MAX_CLIENT_LOOKUPS) return idle
    const client = new DnsClient(CLIENT_OPTIONS)
    if (this.#servers !== null) client.setServers(this.#servers)
    return { client, madeAt: performance.now(), lookups: 0 }
  }
}

function query(client: DnsClient, family: 4 | 6, name: string): Promise<DnsAnswer> {
  const { promise, resolve } = Promise.withResolvers<DnsAnswer>()
  const done = (error: NodeJS.ErrnoException | null, addresses: string[] | undefined): void =>
    resolve({
      addresses: error === null ? (addresses ?? []).map((address) => ({ address, family })) : [],
      failure: error === null ? 'ENOTFOUND' : failureOf(error.code ?? ''),
    })
  if (family === 4) client.resolve4(name, done)
  else client.resolve6(name, done)
  return promise
}

/** Maps c-ares' codes to those of getaddrinfo where a code could be mistaken for an error of the destination. */
function failureOf(code: string): string {
  const plain = code.replace(/^DNS_/, '')
  return FAILURES[plain] ?? (plain || 'EAI_FAIL')
}

const FAILURES: Readonly<Record<string, string>> = {
  ENODATA: 'ENOTFOUND',
  ECANCELLED: 'ETIMEOUT',
  /** No DNS server can be reached. */
  ECONNREFUSED: 'EAI_AGAIN',
}
