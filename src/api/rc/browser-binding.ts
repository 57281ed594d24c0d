import { sameSecret } from '../../core/secrets.ts'
import { OAUTH_STATE_TTL_MS } from '../../core/limits.ts'
import type { Gateway } from '../../messages/gateway.ts'

/**
 * Binds an authorization to the browser that began it. Otherwise an attacker could begin one for a tenant of their own,
 * have another person log in with it, and read that person's messages. Nothing is stored: the cookie holds a keyed hash
 * of the state, which only this gateway can compute.
 */
export const bindingCookie = (gateway: Gateway, state: string): string =>
  cookie(gateway, CONNECT, withoutKeyId(gateway.secrets.hash(bindingText(state))))

/** Whether the form was sent by the confirmation page. The person has not read a form that another site sends. */
export const isOwnForm = ({ headers }: Request): boolean =>
  [null, 'same-origin', 'none'].includes(headers.get('sec-fetch-site'))

/** Whether the request comes from a browser, but not from the one that began the authorization with this state. */
export function isOtherBrowser(gateway: Gateway, request: Request, state: string): boolean {
  if (!isBrowser(request)) return false
  const binding = cookieOf(gateway, request, CONNECT)
  return !gateway.secrets.hashes(bindingText(state)).some((hash) => sameSecret(withoutKeyId(hash), binding))
}

/**
 * What the page for another browser needs: a random cookie, and a keyed hash of cookie and state for its form. Only
 * this browser has the cookie, and only this page has the hash.
 */
export function createConfirmation(gateway: Gateway, state: string): { cookie: string; confirm: string } {
  const nonce = gateway.ids.secret()
  return {
    cookie: cookie(gateway, CONFIRM, nonce),
    confirm: withoutKeyId(gateway.secrets.hash(confirmationText(nonce, state))),
  }
}

/** Whether the person in this browser has confirmed on that page. */
export function isConfirmed(gateway: Gateway, request: Request, state: string, confirm: string | undefined): boolean {
  const nonce = cookieOf(gateway, request, CONFIRM)
  if (nonce === '' || confirm === undefined) return false
  return gateway.secrets.hashes(confirmationText(nonce, state)).some((hash) => sameSecret(withoutKeyId(hash), confirm))
}

const CONNECT = 'sgw-connect'
const CONFIRM = 'sgw-confirm'

/**
 * Browsers send both headers with every request (W3C Fetch Metadata). Programs send neither, except Node.js, whose
 * `fetch` sends a mode other than `navigate`.
 */
const isBrowser = ({ headers }: Request): boolean =>
  headers.get('sec-fetch-mode') === 'navigate' || headers.has('sec-fetch-site')

const bindingText = (state: string): string => `connect ${state}`
const confirmationText = (nonce: string, state: string): string => `confirm ${nonce} ${state}`

/** A keyed hash without the id of the key that made it. */
const withoutKeyId = (hash: string): string => hash.slice(hash.indexOf(':') + 1)

/** `lax`, because the provider redirects back from another site. */
const cookie = (gateway: Gateway, name: string, value: string): string =>
  new Bun.Cookie(cookieName(gateway, name), value, {
    path: '/',
    httpOnly: true,
    secure: isSecure(gateway),
    sameSite: 'lax',
    maxAge: OAUTH_STATE_TTL_MS / 1000,
  }).serialize()

const cookieOf = (gateway: Gateway, request: Request, name: string): string =>
  new Bun.CookieMap(request.headers.get('cookie') ?? '').get(cookieName(gateway, name)) ?? ''

/** Browsers accept a `__Host-` cookie over HTTPS only, and send it to no other host. */
const cookieName = (gateway: Gateway, name: string): string => (isSecure(gateway) ? `__Host-${name}` : name)

const isSecure = ({ config }: Gateway): boolean => new URL(config.publicUrl).protocol === 'https:'
