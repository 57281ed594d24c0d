import ipaddr from 'ipaddr.js'

/**
 * Null if the text is not an IP address; an IPv4 address has four decimal numbers, because programs read other spellings differently. An IPv4-mapped address becomes IPv4. An IPv4-compatible one (`::127.0.0.1`) does not: it is
 * another machine's, but ipaddr.js reads it as IPv4-mapped.
 */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (!text.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(text)) return null
  const exact = text.replace(/^::(?=\d+\.)/, '::0:')
  return ipaddr.isValid(exact) ? ipaddr.process(exact) : null
}

/** Whether it is this machine's own. */
export const isLoopback = (address: ipaddr.IPv4 | ipaddr.IPv6 | null): boolean => address?.range() === 'loopback'

/** The form that failed attempts are counted by. An IPv6 /64 counts as one address, because it usually belongs to one subscriber. */
export function countedAddress(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  if (address.kind() === 'ipv4') return address.toString()
  const head = (address as ipaddr.IPv6).parts.slice(0, 4)
  return `${head.map((part) => part.toString(16)).join(':')}::/64`
}
