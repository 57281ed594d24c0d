import ipaddr from 'ipaddr.js'

/** Null if the text is not an IP address. An IPv4 address in IPv6 form becomes IPv4. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  return ipaddr.isValid(text) ? ipaddr.process(text) : null
}

/** The form that failed attempts are counted by. An IPv6 /64 counts as one address, because it usually belongs to one subscriber. */
export function countedAddress(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  if (address.kind() === 'ipv4') return address.toString()
  const head = (address as ipaddr.IPv6).parts.slice(0, 4)
  return `${head.map((part) => part.toString(16)).join(':')}::/64`
}
