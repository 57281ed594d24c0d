import type { Permission } from '../core/provider-settings.ts'
import { getExtension, listPhoneNumbers } from './account.ts'
import { bearerToken, callApi, ofExtension, withQueryToken, type ApiHandler } from './api-call.ts'
import { authorize } from './authorize.ts'
import { searchConsents } from './consent-search.ts'
import { invalidUri } from './errors.ts'
import { listFeatures, smsConfiguration } from './features.ts'
import type { Call, Reply } from './http.ts'
import { getContent } from './message-content.ts'
import { getMessage, listMessages } from './message-store.ts'
import {
  getThread,
  getThreadContent,
  listThreadMessages,
  listThreads,
  ofThreads,
  syncEntries,
} from './message-threads.ts'
import { probe } from './probe.ts'
import type { Group } from './rate-limit.ts'
import { sendMms, sendSms } from './sms.ts'
import { issueSocketTicket } from './wstoken.ts'
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

const EXTENSION = '/restapi/v1.0/account/{accountId}/extension/{extensionId}'
const MESSAGE = `${EXTENSION}/message-store/{messageId}`
const THREADS = '/restapi/v1.0/account/{accountId}/message-threads'
const SUBSCRIPTION = '/restapi/v1.0/subscription'

/**
 * Every endpoint, with its name for faults and the log. Path, throttling group and permission are those of the operation in RingCentral's
 * OpenAPI file; a test compares them. Anything else gets RingCentral's own 404.
 */
export const ROUTES: readonly Route[] = [
  open('probe', 'GET', '/restapi', null, probe),
  open('authorize', 'GET', '/restapi/oauth/authorize', 'auth', authorize),
  open('authorize', 'POST', '/restapi/oauth/authorize', 'auth', authorize),
  open('token', 'POST', '/restapi/oauth/token', 'auth', token),
  open('revoke', 'POST', '/restapi/oauth/revoke', 'auth', revoke),
  api('wstoken', 'POST', '/restapi/oauth/wstoken', 'auth', 'WebSocketsSubscription', issueSocketTicket),
  api('sms', 'POST', `${EXTENSION}/sms`, 'medium', 'SMS', ofExtension(sendSms)),
  api('mms', 'POST', `${EXTENSION}/mms`, 'medium', 'SMS', ofExtension(sendMms)),
  api('extension', 'GET', EXTENSION, 'light', 'ReadAccounts', ofExtension(getExtension)),
  api('features', 'GET', `${EXTENSION}/features`, 'medium', 'ReadAccounts', ofExtension(listFeatures)),
  api('phone-number', 'GET', `${EXTENSION}/phone-number`, 'light', 'ReadAccounts', ofExtension(listPhoneNumbers)),
  api(
    'sms-configuration',
    'GET',
    `${EXTENSION}/phone-number/{phoneNumberId}/sms-configuration`,
    'light',
    'ReadAccounts',
    ofExtension(smsConfiguration),
  ),
  api('message-store', 'GET', `${EXTENSION}/message-store`, 'light', 'ReadMessages', ofExtension(listMessages)),
  api('message', 'GET', MESSAGE, 'light', 'ReadMessages', ofExtension(getMessage)),
  media('content', 'GET', `${MESSAGE}/content/{attachmentId}`, 'medium', 'ReadMessages', ofExtension(getContent)),
  api('thread-messages', 'GET', `${THREADS}/messages`, 'medium', 'SMS', ofThreads(listThreadMessages)),
  media(
    'thread-content',
    'GET',
    `${THREADS}/messages/{messageId}/content/{attachmentId}`,
    'medium',
    'SMS',
    ofThreads(getThreadContent),
  ),
  api('thread-entries', 'GET', `${THREADS}/entries/sync`, 'medium', 'SMS', ofThreads(syncEntries)),
  api('threads', 'GET', THREADS, 'medium', 'SMS', ofThreads(listThreads)),
  api('thread', 'GET', `${THREADS}/{threadId}`, 'medium', 'SMS', ofThreads(getThread)),
  api('consents', 'POST', '/restapi/v2/accounts/{accountId}/sms/consents/search', 'light', 'SMS', searchConsents),
  // The reference names no permission for subscriptions. `createSubscription` checks one that has its own error.
  api('subscription-create', 'POST', SUBSCRIPTION, 'medium', null, createSubscription),
  api('subscription-list', 'GET', SUBSCRIPTION, 'light', null, listSubscriptions),
  api('subscription-get', 'GET', `${SUBSCRIPTION}/{subscriptionId}`, 'light', null, getSubscription),
  api('subscription-update', 'PUT', `${SUBSCRIPTION}/{subscriptionId}`, 'medium', null, updateSubscription),
  api('subscription-renew', 'POST', `${SUBSCRIPTION}/{subscriptionId}/renew`, 'light', null, renewSubscription),
  api('subscription-delete', 'DELETE', `${SUBSCRIPTION}/{subscriptionId}`, 'medium', null, deleteSubscription),
]

export interface Route {
  name: string
  method: string
  /** With `{names}` for its variable parts. */
  path: string
  /** Null: not limited. */
  group: Group | null
  permission: Permission | null
  pattern: RegExp
  ownerOf(world: World, call: Call): number | null
  process(world: World, call: Call, ids: string[]): Reply | Promise<Reply>
}

/** An endpoint that checks its caller and its limit itself. */
function open(
  name: string,
  method: string,
  path: string,
  group: Group | null,
  process: (world: World, call: Call) => Reply,
): Route {
  return { name, method, path, group, permission: null, pattern: patternOf(path), ownerOf: ownerOfForm, process }
}

function api(
  name: string,
  method: string,
  path: string,
  group: Group,
  permission: Permission | null,
  handle: ApiHandler,
): Route {
  return {
    name,
    method,
    path,
    group,
    permission,
    pattern: patternOf(path),
    ownerOf: (world, call) => call.socket?.owner.extensionId ?? world.sessions.ownerOf(bearerToken(call) ?? ''),
    process: (world, call, ids) => callApi(world, call, { group, permission, handle }, ids),
  }
}

/** Media may be requested with the token in the query (RingCentral developer guide, "Working with media content"). */
function media(...endpoint: Parameters<typeof api>): Route {
  const route = api(...endpoint)
  return {
    ...route,
    ownerOf: (world, call) => route.ownerOf(world, withQueryToken(call)),
    process: (world, call, ids) => route.process(world, withQueryToken(call), ids),
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`)
}

export const ROUTE_NAMES: readonly string[] = [...new Set(ROUTES.map((route) => route.name))]

export function arrive(world: World, call: Call): Arrival {
  for (const route of ROUTES) {
    const match = route.method === call.method ? route.pattern.exec(call.path) : null
    if (match !== null) return arrival(world, call, route, match.slice(1))
  }
  return { route: null, extensionId: () => null, process: invalidUri }
}

const arrival = (world: World, call: Call, route: Route, ids: string[]): Arrival => ({
  route: route.name,
  extensionId: () => asText(route.ownerOf(world, call)),
  process: () => route.process(world, call, ids),
})

const asText = (id: number | null): string | null => (id === null ? null : String(id))
