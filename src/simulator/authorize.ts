import { CODE_SECONDS } from './codes.ts'
import type { Extension } from './directory.ts'
import { oauthError } from './errors.ts'
import { html, redirect, type Call, type Reply } from './http.ts'
import { loginPage } from './login-page.ts'
import type { World } from './world.ts'

/**
 * `GET|POST /restapi/oauth/authorize` (RingCentral API reference, "OAuth2 authorize"). It approves an extension without a
 * login: the one that the control API chose, else `login_hint`, else the first. It has no rate limit, because the platform
 * counts per user and no user is logged in yet.
 */
export function authorize(world: World, call: Call): Reply {
  const query = call.method === 'POST' ? new URLSearchParams(call.body) : call.query
  const refusal = checkRequest(world, query)
  if (refusal !== null) return refusal
  // OpenID Connect Core 3.1.2.1 requires a user who is already logged in, and the simulator has none.
  if (query.get('prompt') === 'none') return back(query, 'error=login_required', 'error_description=Login%20required')
  const chosen = query.get('approve')
  if (world.settings.loginPage && chosen === null) return html(200, loginPage(world.directory.users(), query))
  const login = chosen === null ? world.logins.shift() : chosen === 'deny' ? 'deny' : Number(chosen)
  if (login === 'deny') return denied(query)
  const extension = loginOf(world, login ?? query.get('login_hint'))
  if (extension === undefined) return oauthError(400, 'access_denied', 'OAU-232', 'Extension not found')
  return approved(world, query, extension)
}

function checkRequest(world: World, query: URLSearchParams): Reply | null {
  const clientId = query.get('client_id') ?? ''
  if (clientId !== world.client.id) return oauthError(400, 'invalid_client', 'OAU-153', `Invalid client: ${clientId}`)
  if (query.get('response_type') !== 'code') {
    return oauthError(400, 'unsupported_response_type', 'OAU-250', 'Unsupported response type')
  }
  const redirectUri = query.get('redirect_uri') ?? ''
  const registered = world.settings.redirectUris
  const known = URL.canParse(redirectUri) && (registered.length === 0 || registered.includes(redirectUri))
  return known ? null : oauthError(400, 'invalid_request', 'OAU-109', 'Redirect URIs do not match')
}

function loginOf(world: World, id: number | string | null): Extension | undefined {
  const enabled = world.directory.users().filter((one) => one.status === 'Enabled')
  return id === null ? enabled[0] : enabled.find((one) => one.id === Number(id))
}

function approved(world: World, query: URLSearchParams, extension: Extension): Reply {
  const value = query.get('code_challenge')
  const method = query.get('code_challenge_method') === 'S256' ? 'S256' : 'plain'
  const redirectUri = query.get('redirect_uri') ?? ''
  const code = world.codes.issue({
    extensionId: extension.id,
    clientId: world.client.id,
    redirectUri,
    challenge: value === null ? null : { method, value },
  })
  return back(query, `code=${code}`, `expires_in=${CODE_SECONDS}`)
}

/** The description is encoded twice, as recorded from the platform. After one decoding it contains plus signs. */
const denied = (query: URLSearchParams): Reply =>
  back(query, 'error=access_denied', 'error_description=The%2Buser%2Bdenied%2Baccess%2Bto%2Byour%2Bapplication')

function back(query: URLSearchParams, first: string, last: string): Reply {
  const redirectUri = query.get('redirect_uri') ?? ''
  const state = query.get('state')
  const parts = [first, ...(state === null ? [] : [`state=${encodeURIComponent(state)}`]), last]
  return redirect(`${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${parts.join('&')}`)
}
