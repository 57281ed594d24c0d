import ipaddr from 'ipaddr.js'

/**
 * How webhooks treat an address:
 * - `public`: the open Internet.
 * - `inside`: loopback and private ranges; allowed outside production.
 * - `special`: documentation, multicast, translation and all other ranges that are not the open Internet.
 * - `never`: cloud metadata, link-local and unspecified addresses, which no mode and no setting allows.
 */
export type AddressKind = 'public' | 'inside' | 'special' | 'never'

export type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Parses a range such as `10.0.0.0/8`. A range of IPv4-mapped addresses becomes the IPv4 range. Throws on anything else. */
export function parseRange(cidr: string): Range {
  const [address, bits] = ipaddr.parseCIDR(cidr)
  if (address instanceof ipaddr.IPv6 && bits >= 96 && address.isIPv4MappedAddress())
    return [address.toIPv4Address(), bits - 96]
  return [address, bits]
}

/**
 * All addresses that must be checked for `text`: the address itself and each IPv4 address that it embeds, because a translator or
 * tunnel on the way would send packets there. For an IPv4-mapped address only the IPv4 address counts. Empty if `text` is not
 * a plain address: if it has a zone, or a spelling that no resolver returns.
 */
export function formsOf(text: string): Address[] {
  if (!PLAIN_ADDRESS.test(text) || !ipaddr.isValid(text)) return []
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv4) return [address]
  if (address.isIPv4MappedAddress()) return [address.toIPv4Address()]
  return [address, ...embedded(address)]
}

export function kindOf(address: Address): AddressKind {
  if (isIn(address, NEVER)) return 'never'
  if (isIn(address, INSIDE)) return 'inside'
  return isIn(address, SPECIAL) || !isInternet(address) ? 'special' : 'public'
}

export function isIn(address: Address, ranges: readonly Range[]): boolean {
  return ranges.some((range) => range[0].kind() === address.kind() && address.match(range))
}

export type Range = [Address, number]

/** Four decimal parts, or parts with colons. ipaddr.js would also accept `0177.1`, which no resolver returns. */
const PLAIN_ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|[0-9a-f:]*:[0-9a-f:.]*)$/i

/** The only IPv6 range from which IANA assigns addresses (RFC 4291). Everything outside of it is special. */
const GLOBAL_UNICAST = parseRange('2000::/3')

const isInternet = (address: Address): boolean => address instanceof ipaddr.IPv4 || isIn(address, [GLOBAL_UNICAST])

const NEVER = [
  '0.0.0.0/8', // "this host": Linux connects 0.0.0.0 to itself
  '::/128',
  '169.254.0.0/16', // link-local, with the metadata services of most clouds
  'fe80::/10',
  '168.63.129.16/32', // Azure's WireServer, a public address that only answers inside
  '100.100.100.200/32', // Alibaba Cloud metadata
  '192.0.0.192/32', // Oracle Cloud metadata
  'fd00:ec2::254/128', // AWS metadata
  'fd20:ce::254/128', // Google Cloud metadata
  'fd00:42::42/128', // Scaleway metadata
].map(parseRange)

const INSIDE = ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '::1/128', 'fc00::/7'].map(parseRange)

/** From IANA's special-purpose registries (RFC 6890). For IPv6 only ranges within global unicast. */
const SPECIAL = [
  '100.64.0.0/10', // shared address space of carriers
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relay anycast
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved and broadcast
  '2001::/23', // protocol assignments: Teredo, benchmarking, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
].map(parseRange)

/** Ranges whose addresses embed an IPv4 address, and how to extract it from the eight 16-bit parts. */
const CARRIERS: readonly [Range, (parts: number[]) => number[][]][] = [
  [parseRange('::/96'), last], // IPv4-compatible (RFC 4291)
  [parseRange('::ffff:0:0:0/96'), last], // IPv4-translated (RFC 2765)
  [parseRange('64:ff9b::/96'), last], // NAT64 (RFC 6052)
  [parseRange('64:ff9b:1::/48'), last], // NAT64 of local use (RFC 8215)
  [parseRange('2002::/16'), (parts) => [parts.slice(1, 3)]], // 6to4 (RFC 3056)
  // Teredo (RFC 4380): the server's address, and the client's with all bits inverted.
  [parseRange('2001::/32'), (parts) => [parts.slice(2, 4), parts.slice(6, 8).map((part) => part ^ 0xffff)]],
]

function last(parts: number[]): number[][] {
  return [parts.slice(6, 8)]
}

function embedded(address: ipaddr.IPv6): ipaddr.IPv4[] {
  // `::` and `::1` are in the IPv4-compatible range and embed nothing.
  if (address.parts.slice(0, 7).every((part) => part === 0) && (address.parts[7] ?? 0) <= 1) return []
  return CARRIERS.filter(([range]) => isIn(address, [range])).flatMap(([, take]) => take(address.parts).map(toIPv4))
}

const toIPv4 = (parts: number[]): ipaddr.IPv4 => new ipaddr.IPv4(parts.flatMap((part) => [part >> 8, part & 0xff]))
