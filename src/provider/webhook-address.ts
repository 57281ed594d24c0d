/**
 * Whether two spellings name the same address (RFC 3986 6.2.2 and 6.2.3): scheme and host in any case, the default port written or not, and
 * characters percent-encoded unnecessarily. A final slash does not count either.
 */
export const isSameAddress = (one: string, other: string): boolean => normalized(one) === normalized(other)

/** Like {@link isSameAddress}, for a subscription that is this gateway's by its id: ignores case, and accepts a missing address. */
export const isPerhapsSame = (one: string, other: string): boolean =>
  one === '' || normalized(one).toLowerCase() === normalized(other).toLowerCase()

function normalized(address: string): string {
  const url = URL.parse(address)
  if (url === null) return address
  const { protocol, host, pathname, search } = url
  const path = pathname.replaceAll(/%[0-9a-f]{2}/gi, decodedIfUnreserved).replace(/\/+$/, '')
  return `${protocol}//${host.replace(/\.(?=:|$)/, '')}${path}${search}`
}

function decodedIfUnreserved(code: string): string {
  const character = String.fromCharCode(Number.parseInt(code.slice(1), 16))
  return /[A-Za-z0-9._~-]/.test(character) ? character : code.toUpperCase()
}
