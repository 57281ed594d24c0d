import type { Permission } from '../core/provider-settings.ts'
import type { Extension } from './directory.ts'
import { appNeeds, notFound, rateExceeded, unauthorized } from './errors.ts'
import { header, type Call, type Reply } from './http.ts'
import type { Group } from './rate-limit.ts'
import type { AccessOutcome, Session } from './sessions.ts'
import { hasPermission } from './settings.ts'
import type { World } from './world.ts'

/** An authenticated API call. */
export interface ApiCall {
  world: World
  call: Call
  extension: Extension
  clientId: string
  session: Session
  /** The path's variable parts after account and extension. */
  ids: string[]
}

export type ApiHandler = (api: ApiCall) => Reply | Promise<Reply>

/**
 * Checks the bearer token, the rate limit and the app's permission, then calls the handler. Every answer has the
 * rate-limit headers.
 */
export async function callApi(
  world: World,
  call: Call,
  route: { group: Group; permission: Permission | null; handle: ApiHandler },
  ids: string[],
): Promise<Reply> {
  const caller = authenticate(world, call)
  if ('status' in caller) return caller
  const rate = world.rateLimit.take(`${caller.extension.id} ${caller.clientId}`, route.group)
  if (!rate.allowed) return rateExceeded(rate.headers)
  const { permission } = route
  const isRefused = permission !== null && !hasPermission(world.settings, permission)
  const reply = isRefused ? appNeeds(permission) : await route.handle({ world, call, ...caller, ids })
  Object.assign(reply.headers, rate.headers)
  return reply
}

const BEARER = /^Bearer\s+(\S+)$/i

export const bearerToken = (call: Call): string | null => BEARER.exec(header(call, 'authorization'))?.[1] ?? null

/** The call with the token of its query in the header, where it has none of its own. */
export function withQueryToken(call: Call): Call {
  const token = call.query.get('access_token')
  if (token === null || header(call, 'authorization') !== '') return call
  return { ...call, headers: { ...call.headers, authorization: `Bearer ${token}` } }
}

interface Caller {
  extension: Extension
  clientId: string
  session: Session
}

/** A request over a socket has the login of the socket. */
function sessionOf(world: World, call: Call): AccessOutcome | Reply {
  if (call.socket !== undefined) return world.sessions.checkOpen(call.socket.owner)
  if (header(call, 'authorization') === '')
    return unauthorized('AGW-401', 'AGW-401', 'Authorization header is not specified')
  const token = bearerToken(call)
  if (token === null) return unauthorized('AGW-402', 'AGW-402', 'Invalid Authorization header')
  return world.sessions.checkAccess(token)
}

function authenticate(world: World, call: Call): Caller | Reply {
  const session = sessionOf(world, call)
  if (typeof session === 'object' && 'body' in session) return session
  if (session === 'malformed') return unauthorized('OAU-149', 'TokenInvalid', 'OAuth token is invalid')
  if (session === 'unknown') return unauthorized('OAU-213', 'TokenInvalid', 'Token not found')
  if (session === 'corrupted') return unauthorized('OAU-129', 'TokenInvalid', 'Access token corrupted')
  if (session === 'expired') return unauthorized('OAU-128', 'TokenExpired', 'Access token expired')
  const extension = world.directory.extension(session.extensionId)
  if (extension?.status === 'Disabled' || extension?.status === 'Frozen') {
    return unauthorized('OAU-236', 'TokenInvalid', 'Extension is disabled or frozen')
  }
  if (extension === undefined || extension.status === 'Deleted')
    return unauthorized('CMN-405', 'TokenInvalid', 'Login to extension required')
  if (extension.status !== 'Enabled')
    return unauthorized('OAU-141', 'TokenInvalid', 'Login for extension in current state is not allowed.')
  return { extension, clientId: session.clientId, session }
}

/**
 * Wraps a handler of `/account/{accountId}/extension/{extensionId}/…`. Ids other than `~` and the caller's own get a
 * 404.
 */
export const ofExtension =
  (handle: ApiHandler): ApiHandler =>
  (api) => {
    const [account, owner, ...ids] = api.ids
    if (account !== '~' && account !== String(api.extension.accountId)) return notFound('accountId')
    if (owner !== '~' && owner !== String(api.extension.id)) return notFound('extensionId')
    return handle({ ...api, ids })
  }

export const extensionUri = (world: World, extension: Extension): string =>
  `${world.url}/restapi/v1.0/account/${extension.accountId}/extension/${extension.id}`
