import { isIP } from 'node:net'
import { DnsQueries, type ResolvedAddress } from './dns-queries.ts'
import { type SearchSettings, hostsFile, searchFile } from './system-files.ts'

/**
 * Returns all addresses of a name, or rejects with an error whose `code` says why there are none. Soon after `signal` aborts, it
 * ends with the addresses that are known by then.
 */
export type Resolver = (hostname: string, signal: AbortSignal) => Promise<readonly ResolvedAddress[]>

export interface SystemResolverOptions {
  /** DNS servers as `address:port`; by default those of /etc/resolv.conf. */
  servers?: readonly string[]
  hostsPath?: string
  searchPath?: string
}

/**
 * Resolves names as this machine does: with its hosts file, then with its DNS servers and search domains.
 *
 * It does not use getaddrinfo (`dns.lookup`, `fetch`), which Bun runs on two worker threads. All WebCrypto calls share these
 * threads, and a DNS server that does not answer would keep them busy.
 */
export function systemResolver(options: SystemResolverOptions = {}): Resolver {
  const hosts = hostsFile(options.hostsPath)
  const search = searchFile(options.searchPath)
  const queries = new DnsQueries(options.servers ?? null)
  return async (hostname, signal) => {
    const name = hostname.toLowerCase()
    const known = hosts().get(name) ?? loopbackOf(name)
    if (known !== null) return known.map((address) => ({ address, family: isIP(address) }))
    return firstFound(queries, candidatesOf(name, search()), signal)
  }
}

const LOOPBACK = ['127.0.0.1', '::1']

/** RFC 6761 6.3: such names are loopback, so no DNS server is asked. */
const loopbackOf = (name: string): readonly string[] | null =>
  name === 'localhost' || name.endsWith('.localhost') ? LOOPBACK : null

/** The full names that a name may stand for, in the order of resolv.conf(5). */
function candidatesOf(name: string, { domains, minDots }: SearchSettings): string[] {
  const searched = domains.map((domain) => `${name}.${domain}`)
  const dots = name.split('.').length - 1
  return dots >= minDots ? [name, ...searched] : [...searched, name]
}

/** Tries the names in order. If none has an address, reports the first temporary failure, because only answers for all names prove that there is none. */
async function firstFound(
  queries: DnsQueries,
  names: readonly string[],
  signal: AbortSignal,
): Promise<ResolvedAddress[]> {
  let failure = 'ENOTFOUND'
  for (const name of names) {
    const answer = await queries.addresses(name, signal)
    if (answer.addresses.length > 0) return answer.addresses
    if (failure === 'ENOTFOUND') failure = answer.failure
  }
  throw Object.assign(new Error('Cannot resolve a name'), { code: failure })
}
