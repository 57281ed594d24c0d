import ipaddr from 'ipaddr.js'

/**
 * Whether a `Host` header names this machine, an address, or a name that only this network can have given. A stranger's page can reach a
 * gateway at home through a browser there, if the stranger's own name resolves to the gateway's address (DNS rebinding): then `Host` is that
 * name.
 */
export function isHomeHost(header: string): boolean {
  const host = header.toLowerCase().replace(/:\d{1,5}$/, '')
  const inBrackets = /^\[([\da-f:.]+)\]$/.exec(host)?.[1]
  if (inBrackets !== undefined) return ipaddr.IPv6.isValid(inBrackets)
  return ipaddr.IPv4.isValidFourPartDecimal(host) || (host.length <= MAX_NAME_LENGTH && HOME_NAME.test(host))
}

const MAX_NAME_LENGTH = 253

/** One label, such as `localhost` or the name of a container; or a name in `.local` (RFC 6762) or `.home.arpa` (RFC 8375). */
const HOME_NAME = /^[a-z\d_-]{1,63}((\.[a-z\d_-]{1,63})*\.(local|home\.arpa))?$/
