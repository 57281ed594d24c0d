import { getExtension, listPhoneNumbers } from './account.ts'
import { bearerToken, callApi, ofExtension, type ApiHandler } from './api-call.ts'
import { authorize } from './authorize.ts'
import { apiError } from './errors.ts'
import { json, type Call, type Reply } from './http.ts'
import { getContent, getMessage, listMessages } from './message-store.ts'
import type { Group } from './rate-limit.ts'
import type { Permission } from './settings.ts'
import { sendSms } from './sms.ts'
import {
  createSubscription,
  deleteSubscription,
  getSubscription,
  listSubscriptions,
  renewSubscription,
  updateSubscription,
} from './subscriptions.ts'
import { ownerOfForm, revoke, token } from './token.ts'
import type { World } from './world.ts'

/** A matched request. `process` handles it. A fault may call `process` after the answer, or never. */
export interface Arrival {
  /** Null for an unknown path. */
  route: string | null
  extensionId(): string | null
  process(): Reply | Promise<Reply>
}

const EXTENSION = '/restapi/v1.0/account/([^/]+)/extension/([^/]+)'
const SUBSCRIPTION = '/restapi/v1.0/subscription'

/**
 * Every endpoint, with its name for faults and the log, its throttling group, and the permission that the app needs.
 * Creating a subscription checks its permission itself, because it has an error of its own. The reference names no
 * permission for the other subscription calls, so we assume that they need none.
 */
const API_ROUTES = [
  api('sms', 'POST', `${EXTENSION}/sms`, 'medium', 'SMS', ofExtension(sendSms)),
  api('extension', 'GET', EXTENSION, 'light', 'ReadAccounts', ofExtension(getExtension)),
  api('phone-number', 'GET', `${EXTENSION}/phone-number`, 'light', 'ReadAccounts', ofExtension(listPhoneNumbers)),
  api('message-store', 'GET', `${EXTENSION}/message-store`, 'light', 'ReadMessages', ofExtension(listMessages)),
  api('message', 'GET', `${EXTENSION}/message-store/([^/]+)`, 'light', 'ReadMessages', ofExtension(getMessage)),
  api(
    'content',
    'GET',
    `${EXTENSION}/message-store/([^/]+)/content/([^/]+)`,
    'media',
    'ReadMessages',
    ofExtension(getContent),
  ),
  api('subscription-create', 'POST', SUBSCRIPTION, 'medium', null, createSubscription),
  api('subscription-list', 'GET', SUBSCRIPTION, 'light', null, listSubscriptions),
  api('subscription-get', 'GET', `${SUBSCRIPTION}/([^/]+)`, 'light', null, getSubscription),
  api('subscription-update', 'PUT', `${SUBSCRIPTION}/([^/]+)`, 'medium', null, updateSubscription),
  api('subscription-renew', 'POST', `${SUBSCRIPTION}/([^/]+)/renew`, 'light', null, renewSubscription),
  api('subscription-delete', 'DELETE', `${SUBSCRIPTION}/([^/]+)`, 'medium', null, deleteSubscription),
]

const OPEN_ROUTES: OpenRoute[] = [
  { name: 'probe', methods: ['GET'], path: '/restapi', handle: probe },
  { name: 'authorize', methods: ['GET', 'POST'], path: '/restapi/oauth/authorize', handle: authorize },
  { name: 'token', methods: ['POST'], path: '/restapi/oauth/token', handle: token },
  { name: 'revoke', methods: ['POST'], path: '/restapi/oauth/revoke', handle: revoke },
]

interface ApiRoute {
  name: string
  method: string
  pattern: RegExp
  group: Group
  permission: Permission | null
  handle: ApiHandler
}

interface OpenRoute {
  name: 'probe' | 'authorize' | 'token' | 'revoke'
  methods: string[]
  path: string
  handle: (world: World, call: Call) => Reply
}

function api(
  name: string,
  method: string,
  pattern: string,
  group: Group,
  permission: Permission | null,
  handle: ApiHandler,
): ApiRoute {
  return { name, method, pattern: new RegExp(`^${pattern}$`), group, permission, handle }
}

export const ROUTE_NAMES: readonly string[] = [...OPEN_ROUTES, ...API_ROUTES].map((route) => route.name)

export function arrive(world: World, call: Call): Arrival {
  for (const route of API_ROUTES) {
    if (route.method !== call.method) continue
    const match = route.pattern.exec(call.path)
    if (match !== null) return apiArrival(world, call, route, match.slice(1))
  }
  const open = OPEN_ROUTES.find((route) => route.path === call.path && route.methods.includes(call.method))
  if (open === undefined) return { route: null, extensionId: () => null, process: unknownPath }
  return {
    route: open.name,
    extensionId: () => asText(ownerOfForm(world, call)),
    process: () => open.handle(world, call),
  }
}

function apiArrival(world: World, call: Call, route: ApiRoute, ids: string[]): Arrival {
  return {
    route: route.name,
    extensionId: () => asText(world.sessions.ownerOf(bearerToken(call) ?? '')),
    process: () => callApi(world, call, route, ids),
  }
}

const asText = (id: number | null): string | null => (id === null ? null : String(id))

const unknownPath = (): Reply => apiError(404, 'CMN-102', 'Resource is not found', { topLevel: 'ResourceNotFound' })

/**
 * `GET /restapi` (RingCentral API reference, "Get API versions"). Clients use it to check that the platform is
 * reachable.
 */
function probe(world: World): Reply {
  const version = { uriString: 'v1.0', versionString: '1.0.60', releaseDate: '2026-03-01T00:00:00.000Z' }
  const apiVersions = [{ uri: `${world.url}/restapi/v1.0`, ...version }]
  return json(200, {
    uri: `${world.url}/restapi`,
    apiVersions,
    serverVersion: '26.3.1.10210249',
    serverRevision: 'simulator',
  })
}
