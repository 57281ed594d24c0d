import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Settings } from './settings.ts'

/** The listener's address or name in the system's form: `[::1]` becomes `::1`, and all spellings of an IPv6 address become one. */
export function readHost(settings: Settings, fallback: string): string {
  const text = settings.text('HOST')
  if (text === null) return fallback
  const host = /^\[(.+)\]$/.exec(text)?.[1] ?? text
  if (isIP(host) === 6) return ipaddr.parse(host).toString()
  if (isIP(host) === 0 && !HOST_NAME.test(host))
    settings.problem(
      'HOST',
      `is "${withoutCredentials(text)}"`,
      'give an address or a name of this machine without a port: 127.0.0.1, 0.0.0.0 for all IPv4 addresses, or :: for all',
    )
  return host.toLowerCase()
}

/** The system treats a name that ends in a number as an address: `127.1` would be 127.0.0.1, and `0` all addresses. */
const HOST_NAME =
  /^(?!(?:.*\.)?(?:\d+|0x[\da-f]*)\.?$)[a-z\d_](?:[\w-]*[a-z\d_])?(?:\.[a-z\d_](?:[\w-]*[a-z\d_])?)*\.?$/i

/** The address at which this machine reaches the listener of `HOST` and `PORT`: a listener on a network address does not answer at 127.0.0.1. */
export function localUrl({ host, port }: { host: string; port: number }): string {
  const local = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
  return `http://${local.includes(':') ? `[${local}]` : local}:${port}`
}

export function readPublicUrl(settings: Settings, production: boolean, port: number): string {
  const text = settings.text('PUBLIC_URL')
  if (text === null) {
    if (production && settings.text('RC_EVENTS') === 'webhook')
      settings.missing(
        'PUBLIC_URL',
        'give the https:// address that the provider and browsers reach, for example https://sms.example.com, or remove RC_EVENTS=webhook',
      )
    return `http://localhost:${port}`
  }
  if (!isPublicAddress(text, production ? ['https:'] : ['https:', 'http:'])) {
    settings.problem(
      'PUBLIC_URL',
      `is "${withoutCredentials(text)}"`,
      `give an ${production ? 'https://' : 'http:// or https://'} address without credentials and query`,
    )
  }
  return text.replace(/\/+$/, '')
}

/**
 * `URL` accepts more than a public address may be: hosts with `*` or `;`, which no provider reaches and which have a meaning in a page's
 * security policy, and spellings that become a different address when a path is appended.
 */
function isPublicAddress(text: string, schemes: readonly string[]): boolean {
  const url = /^https?:\/\/[^\s\\/?#@]+(\/[^\s\\?#]*)?$/i.test(text) ? URL.parse(text) : null
  return url !== null && schemes.includes(url.protocol) && /^(?:[\w.-]+|\[[\da-f:.]+\])$/.test(url.hostname)
}

/** Addresses of chat tools contain a secret, so a bad one is not repeated. `allowed`: from WEBHOOK_ALLOW_CIDRS. */
export function readAlertUrl(settings: Settings, production: boolean, allowed: readonly string[]): string | null {
  const text = settings.secret('ALERT_URL')
  if (text === null) return null
  const url = URL.parse(text)
  const isHome = production && settings.text('PUBLIC_URL') === null
  const mayBePlain = !production || (isHome && url !== null && isIn(url.hostname, allowed))
  const isUsable = url?.protocol === 'https:' || (url?.protocol === 'http:' && mayBePlain)
  if (!isUsable || url.username !== '' || url.password !== '')
    settings.problem('ALERT_URL', 'is not an address to which alerts can be posted', alertFix(production, isHome))
  return text
}

function alertFix(production: boolean, isHome: boolean): string {
  const secure = `give an ${production ? 'https://' : 'https:// or http://'} address without user and password`
  if (!isHome) return secure
  return `${secure}; http:// is for an IP address in WEBHOOK_ALLOW_CIDRS, such as http://192.168.1.9:8123/alert with WEBHOOK_ALLOW_CIDRS=192.168.1.9 (127.0.0.1 in place of localhost)`
}

/** Whether a URL's host is an address in one of the ranges. Bad ranges are reported elsewhere. */
function isIn(hostname: string, ranges: readonly string[]): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) === 0) return false
  const address = ipaddr.process(host)
  return ranges.filter(isPlainCidr).some((range) => {
    const [base, bits] = ipaddr.parseCIDR(range)
    return base.kind() === address.kind() && address.match(base, bits)
  })
}

/** A URL in a form for messages to the operator: a password in it must not reach a log. */
export const withoutCredentials = (url: string): string => url.replace(/\/\/.*@/, '//…@')

/** The same, without the query, where Litestream accepts secrets too. A password may contain a question mark. */
export const withoutSecrets = (url: string): string => withoutCredentials(url).replace(/\?.*/s, '')

/** Shorter prefixes include public addresses: 10.0.0.0/8 and fc00::/7 are the widest private ranges. */
const SHORTEST_PREFIX = { ipv4: 8, ipv6: 7 }

/** A trusted proxy may claim any client address, so a range that includes everybody would disable address blocks and HTTPS checks. */
export function readTrustedProxies(settings: Settings, production: boolean): string[] {
  const ranges = readCidrs(settings, 'TRUSTED_PROXIES')
  for (const range of production ? ranges : []) {
    const shortest = range.includes(':') ? SHORTEST_PREFIX.ipv6 : SHORTEST_PREFIX.ipv4
    if (Number(range.split('/')[1]) < shortest)
      settings.problem(
        'TRUSTED_PROXIES',
        `holds "${range}", which trusts strangers`,
        'name only the addresses that your proxy connects from, for example 127.0.0.1',
      )
  }
  return ranges
}

/** Ranges that are not routed on the internet. */
const PRIVATE_RANGES = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '169.254.0.0/16',
  'fc00::/7',
  'fe80::/10',
]

/** Reads PLAIN_HTTP_CIDRS: who may use plain HTTP to a gateway without a public address, besides this machine. */
export function readPlainHttpCidrs(settings: Settings): string[] {
  const ranges = readCidrs(settings, 'PLAIN_HTTP_CIDRS')
  if (ranges.length > 0 && settings.text('PUBLIC_URL') !== null)
    settings.problem(
      'PLAIN_HTTP_CIDRS',
      'is set, and PUBLIC_URL too',
      'a gateway with a public address accepts only https, so remove one of them',
    )
  for (const range of ranges)
    if (isPlainCidr(range) && !PRIVATE_RANGES.some((wider) => includes(wider, range)))
      settings.problem(
        'PLAIN_HTTP_CIDRS',
        `holds "${range}", which is not a private range`,
        `give ranges inside ${PRIVATE_RANGES.join(', ')}`,
      )
  return ranges
}

/** An address with a zone (`fe80::1%eth0`) is in no range: the zone would be ignored, and the address of another link would count. */
function includes(wider: string, range: string): boolean {
  if (range.includes('%')) return false
  const [base, bits] = ipaddr.parseCIDR(wider)
  const [address, length] = ipaddr.parseCIDR(range)
  return base.kind() === address.kind() && length >= bits && address.match([base, bits])
}

export function readCidrs(settings: Settings, name: string): string[] {
  return settings.list(name).map((item) => {
    const withLength = item.includes('/') ? item : `${item}/${item.includes(':') ? 128 : 32}`
    if (!isPlainCidr(withLength))
      settings.problem(name, `holds "${item}"`, 'give addresses or ranges such as 10.0.0.0/8')
    return withLength
  })
}

/** Refuses spellings that parsers read differently: `10.0`, octal and hexadecimal parts. */
function isPlainCidr(text: string): boolean {
  const [address = '', length = ''] = text.split('/')
  if (!ipaddr.isValidCIDR(text) || !/^(0|[1-9]\d*)$/.test(length)) return false
  return address.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(address)
}

/** Browsers compare origins exactly, so an origin in any other form would have no effect. */
export function readOrigins(settings: Settings): string[] {
  return settings.list('CORS_ORIGINS').map((item) => {
    const origin = item.replace(/\/$/, '')
    const isOrigin = /^https?:\/\/[^*]+$/.test(origin) && URL.parse(origin)?.origin === origin
    if (origin !== '*' && !isOrigin)
      settings.problem('CORS_ORIGINS', `holds "${item}"`, 'give origins such as https://app.example.com, or *')
    return origin
  })
}

/** With this setting Bun and Node.js check no certificates, so anybody on the network could read tokens and messages. */
export function refuseUncheckedTls(settings: Settings, production: boolean): void {
  if (production && settings.text('NODE_TLS_REJECT_UNAUTHORIZED') === '0')
    settings.problem(
      'NODE_TLS_REJECT_UNAUTHORIZED',
      'is 0, which switches off every check of certificates',
      'remove it; for your own authority, set NODE_EXTRA_CA_CERTS',
    )
}
