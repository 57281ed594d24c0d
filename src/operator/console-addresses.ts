import { isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { Config } from '../core/config.ts'
import { type Range, formsOf, isIn, parseRange } from '../net/outbound/special-addresses.ts'

/**
 * The addresses of this machine at which clients in `PLAIN_HTTP_CIDRS` reach the gateway, as in URLs: those inside a range, and those in whose
 * network a range is. Omits link-local addresses (`fe80::…`), which browsers cannot open because they need a zone.
 */
export function plainHttpAddresses(
  { plainHttpCidrs, host, port }: Pick<Config, 'plainHttpCidrs' | 'host' | 'port'>,
  interfaces = networkInterfaces(),
): string[] {
  const ranges = plainHttpCidrs.map(parseRange)
  return Object.values(interfaces)
    .flatMap((list = []) => list)
    .filter(({ address }) => !address.startsWith('fe80:') && isListening(host, address))
    .filter(({ address, cidr }) => formsOf(address).some((form) => isIn(form, ranges)) || isAround(cidr, ranges))
    .map(({ address }) => `http://${isIPv4(address) ? address : `[${address}]`}:${port}`)
}

const isListening = (host: string, address: string): boolean =>
  host === '::' || host === address || (host === '0.0.0.0' && isIPv4(address))

/** Whether the network of an interface has one of the ranges in it, such as a single machine. */
function isAround(cidr: string | null | undefined, ranges: readonly Range[]): boolean {
  if (cidr === null || cidr === undefined) return false
  const network = parseRange(cidr)
  return ranges.some(([base, bits]) => bits >= network[1] && isIn(base, [network]))
}
