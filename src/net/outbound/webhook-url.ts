import { MAX_WEBHOOK_URL_LENGTH } from '../../core/limits.ts'

/**
 * Parses a URL; returns null if no webhook may have it. Does not check literal IP addresses. `plainHttp`: production also accepts `http://` to
 * them.
 */
export function parseWebhookUrl(text: string, production: boolean, plainHttp = false): URL | null {
  if (text.length > MAX_WEBHOOK_URL_LENGTH || !text.isWellFormed() || UNSEEN.test(text)) return null
  const authority = AUTHORITY.exec(text)?.[1]
  if (authority === undefined || authority.includes('@')) return null
  const url = URL.parse(text)
  if (url === null || !isHttp(url, production, plainHttp) || !isPortAllowed(portOf(url), production)) return null
  const host = bareHost(url.hostname)
  if (isLiteral(url)) return url
  return isName(host) && !(production && isInsideName(host)) ? url : null
}

/** The port that a request to `url` dials. */
export const portOf = (url: URL): number =>
  url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)

/** A URL's host name in lower case, without brackets and final dot. */
export const bareHost = (hostname: string): string =>
  hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')

/** Control and format characters, spaces and backslashes: URL parsers disagree about them, so they are refused. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Z}\\]/u

/** The part between `//` and the path. The URL parser alone would also accept `https:host` and `https:///host`. */
const AUTHORITY = /^https?:\/\/([^/?#]+)/i

const isHttp = (url: URL, production: boolean, plainHttp: boolean): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && (!production || (plainHttp && isLiteral(url))))

/** Refuses well-known ports in production, where another service may listen, except for 80 and 443. */
function isPortAllowed(port: number, production: boolean): boolean {
  if (port === 0) return false
  return !production || port === 443 || port === 80 || port >= 1024
}

/** The URL parser writes every IPv4 address as four decimal parts, and every IPv6 address in brackets. */
const isLiteral = (url: URL): boolean => url.hostname.startsWith('[') || /^\d+(\.\d+){3}\.?$/.test(url.hostname)

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/

const isName = (host: string): boolean => host.length <= 253 && host.split('.').every((label) => LABEL.test(label))

const INSIDE_SUFFIXES = ['.localhost', '.local', '.internal', '.home.arpa']

/** Whether the name has a meaning only on this machine or network (RFC 6761, 6762, 8375) or is a single label. */
const isInsideName = (host: string): boolean =>
  !host.includes('.') || host === 'home.arpa' || INSIDE_SUFFIXES.some((suffix) => host.endsWith(suffix))
