import { MAX_WEBHOOK_URL_LENGTH } from '../core/limits.ts'

/** The address as a URL when its shape may be a webhook's; null otherwise. Literal IP addresses are not judged here. */
export function parseWebhookUrl(text: string, production: boolean): URL | null {
  if (text.length > MAX_WEBHOOK_URL_LENGTH || !text.isWellFormed() || UNSEEN.test(text)) return null
  const authority = AUTHORITY.exec(text)?.[1]
  if (authority === undefined || authority.includes('@')) return null
  const url = URL.parse(text)
  if (url === null || !isHttp(url, production) || !isPortAllowed(portOf(url), production)) return null
  const host = bareHost(url.hostname)
  if (isLiteral(url)) return url
  return isName(host) && !(production && isInsideName(host)) ? url : null
}

/** The port that a request to `url` dials. */
export const portOf = (url: URL): number =>
  url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)

/** A URL's host name without brackets and without the root's dot, lower-case. */
export const bareHost = (hostname: string): string =>
  hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')

/** Control and format characters, spaces and backslashes: URL parsers disagree about them, so we never let them in. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Z}\\]/u

/** What stands between `//` and the path; the parser alone would also take `https:host` and `https:///host`. */
const AUTHORITY = /^https?:\/\/([^/?#]+)/i

const isHttp = (url: URL, production: boolean): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && !production)

/** In production no well-known port of another service (SMTP, Redis behind a name …) but the web's own. */
function isPortAllowed(port: number, production: boolean): boolean {
  if (port === 0) return false
  return !production || port === 443 || port === 80 || port >= 1024
}

/** The parser brings every spelling of an IPv4 address to four decimal parts and an IPv6 one into brackets. */
const isLiteral = (url: URL): boolean => url.hostname.startsWith('[') || /^\d+(\.\d+){3}\.?$/.test(url.hostname)

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/

const isName = (host: string): boolean => host.length <= 253 && host.split('.').every((label) => LABEL.test(label))

const INSIDE_SUFFIXES = ['.localhost', '.local', '.internal', '.home.arpa']

/** Names that only mean something on this machine or network (RFC 6761, 6762, 8375), single labels among them. */
const isInsideName = (host: string): boolean =>
  !host.includes('.') || host === 'home.arpa' || INSIDE_SUFFIXES.some((suffix) => host.endsWith(suffix))
