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

/** Bun looks at c-ares' time limits once a second: a second query leaves after one second, the third never. */
const CLIENT_OPTIONS = { timeout: 500, tries: 3 }
/** c-ares reads /etc/resolv.conf when a client is made, and nothing else bounds the answers that a client caches. */
const MAX_CLIENT_AGE_MS = 30_000
const MAX_CLIENT_LOOKUPS = 20
const MAX_IDLE_CLIENTS = 16

interface IdleClient {
  client: DnsClient
  madeAt: number
  lookups: number
}

/**
 * Queries DNS servers by c-ares, on the event loop. Each lookup has a client of its own while it runs, so that it can
 * be cancelled alone. Making a client costs ten times as much as a lookup, so clients are used again.
 */
export class DnsQueries {
  readonly #servers: readonly string[] | null
  readonly #idle: IdleClient[] = []

  /** `servers`: `address:port`; null for those of this machine. */
  constructor(servers: readonly string[] | null) {
    this.#servers = servers
  }

  /** IPv4 and IPv6 addresses of one full name. An abort of `signal` cancels what has not been answered. Never rejects. */
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

/** c-ares' codes, in the words of getaddrinfo where one of them would be mistaken for the destination's. */
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
