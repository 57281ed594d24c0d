import { sameSecret } from '../../core/secrets.ts'
import { OAUTH_STATE_TTL_MS } from '../../core/limits.ts'
import type { Gateway } from '../../gateway.ts'

/**
 * An authorization is bound to the browser that began it: else somebody could begin one for a tenant of theirs, have
 * another person log in with it, and read that person's messages. Nothing is stored: the cookie holds a keyed hash of
 * the state, which only this gateway can make.
 */
export const bindingCookie = (gateway: Gateway, state: string): string =>
  cookie(gateway, CONNECT, bare(gateway.secrets.hash(begunWith(state))))

/** Whether our own page sent the form. Another site's page can send one too, and nobody has read what it asks. */
export const isOwnForm = ({ headers }: Request): boolean =>
  [null, 'same-origin', 'none'].includes(headers.get('sec-fetch-site'))

/** Whether the request is a browser's, and not of the one that began with this state. */
export function isStrangeBrowser(gateway: Gateway, request: Request, state: string): boolean {
  if (!isBrowser(request)) return false
  const given = cookieOf(gateway, request, CONNECT)
  return !gateway.secrets.hashes(begunWith(state)).some((hash) => sameSecret(bare(hash), given))
}

/** What the question to a strange browser consists of: a cookie that only it has, and the proof that it read our page. */
export function question(gateway: Gateway, state: string): { cookie: string; confirm: string } {
  const nonce = gateway.ids.secret()
  return { cookie: cookie(gateway, CONFIRM, nonce), confirm: bare(gateway.secrets.hash(confirmedBy(nonce, state))) }
}

/** Whether the person in this browser has answered our question with yes. */
export function isConfirmed(gateway: Gateway, request: Request, state: string, confirm: string | undefined): boolean {
  const nonce = cookieOf(gateway, request, CONFIRM)
  if (nonce === '' || confirm === undefined) return false
  return gateway.secrets.hashes(confirmedBy(nonce, state)).some((hash) => sameSecret(bare(hash), confirm))
}

const CONNECT = 'sgw-connect'
const CONFIRM = 'sgw-confirm'

/**
 * Browsers send both with everything, Fetch Metadata (W3C); programs send neither, but for the `fetch` of Node.js, which
 * sends a mode of its own.
 */
const isBrowser = ({ headers }: Request): boolean =>
  headers.get('sec-fetch-mode') === 'navigate' || headers.has('sec-fetch-site')

const begunWith = (state: string): string => `connect ${state}`
const confirmedBy = (nonce: string, state: string): string => `confirm ${nonce} ${state}`

/** Without the id of its key. */
const bare = (hash: string): string => hash.slice(hash.indexOf(':') + 1)

/** Lax: the provider's redirect back is a navigation from another site. */
const cookie = (gateway: Gateway, name: string, value: string): string =>
  new Bun.Cookie(nameOf(gateway, name), value, {
    path: '/',
    httpOnly: true,
    secure: isSecure(gateway),
    sameSite: 'lax',
    maxAge: OAUTH_STATE_TTL_MS / 1000,
  }).serialize()

const cookieOf = (gateway: Gateway, request: Request, name: string): string =>
  new Bun.CookieMap(request.headers.get('cookie') ?? '').get(nameOf(gateway, name)) ?? ''

/** Browsers take a `__Host-` cookie from this very host alone, by HTTPS. */
const nameOf = (gateway: Gateway, name: string): string => (isSecure(gateway) ? `__Host-${name}` : name)

const isSecure = ({ config }: Gateway): boolean => new URL(config.publicUrl).protocol === 'https:'
