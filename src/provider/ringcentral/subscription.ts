import { z } from 'zod'
import type { Topic } from '../../db/schema/connections.ts'
import type { ProviderSubscription, SubscriptionRequest } from '../provider-subscription.ts'
import type { ProviderResult } from '../provider.ts'
import { CONSENTS_FILTER } from './consents.ts'
import { EXTENSION_PATH } from './extension.ts'
import { MAX_LIST_BYTES } from './request.ts'
import type { Call, Requester } from './request.ts'
import { THREADS_FILTER } from './threads.ts'
import { optionalText, wireId, wireTime } from './wire-text.ts'

/**
 * `POST /subscription`. Before it answers, the provider calls `address` and expects its validation token back, so the webhook
 * route must be served during this call.
 */
export async function createSubscription(
  requester: Requester,
  accessToken: string,
  request: SubscriptionRequest,
): Promise<ProviderResult<ProviderSubscription>> {
  const { address, verificationToken, topic } = request
  const json = {
    eventFilters: [FILTERS[topic]],
    deliveryMode: { transportType: 'WebHook', address, verificationToken },
    expiresIn: LIFETIME_SECONDS,
  }
  const call: Call = {
    method: 'POST',
    path: SUBSCRIPTION_PATH,
    as: { accessToken },
    json,
    credentials: [verificationToken],
  }
  const created = await requester.read(call, subscriptionSchema)
  return created.ok ? { ok: true, value: { ...created.value, requestId: created.requestId } } : created
}

export function getSubscription(
  requester: Requester,
  accessToken: string,
  subscriptionId: string,
): Promise<ProviderResult<ProviderSubscription>> {
  const call: Call = { method: 'GET', path: subscriptionPath(subscriptionId), as: { accessToken } }
  return requester.read(call, subscriptionSchema)
}

/** `GET /subscription` lists the subscriptions of this user and this app, 30 at most, on one page. */
export function listSubscriptions(
  requester: Requester,
  accessToken: string,
): Promise<ProviderResult<ProviderSubscription[]>> {
  const call: Call = { method: 'GET', path: SUBSCRIPTION_PATH, as: { accessToken }, maxAnswerBytes: MAX_LIST_BYTES }
  return requester.read(call, listSchema)
}

/** `POST …/renew` keeps the subscription's own lifetime, counted from now. */
export function renewSubscription(
  requester: Requester,
  accessToken: string,
  subscriptionId: string,
): Promise<ProviderResult<ProviderSubscription>> {
  const call: Call = { method: 'POST', path: `${subscriptionPath(subscriptionId)}/renew`, as: { accessToken } }
  return requester.read(call, subscriptionSchema)
}

/** Expired subscriptions vanish and answer 404. A 404 that is not in the provider's form does not mean that. */
export async function deleteSubscription(
  requester: Requester,
  accessToken: string,
  subscriptionId: string,
): Promise<ProviderResult<void>> {
  const deleted = await requester.perform({
    method: 'DELETE',
    path: subscriptionPath(subscriptionId),
    as: { accessToken },
  })
  if (!deleted.ok && deleted.failure.status === 404 && deleted.failure.reason === 'rejected')
    return { ok: true, value: undefined }
  return deleted
}

export const SUBSCRIPTION_PATH = '/restapi/v1.0/subscription'
/** The topics of RingCentral's events: the text of each SMS, or changes in message threads or in consents. */
export const FILTERS: Readonly<Record<Topic, string>> = {
  messages: `${EXTENSION_PATH}/message-store/instant?type=SMS`,
  threads: THREADS_FILTER,
  consents: CONSENTS_FILTER,
}
const LIFETIME_SECONDS = 7 * 24 * 60 * 60

export const subscriptionPath = (subscriptionId: string): string =>
  `${SUBSCRIPTION_PATH}/${encodeURIComponent(subscriptionId)}`

/** `SubscriptionInfo`; it never contains the verification token. */
export const subscriptionSchema = z
  .looseObject({
    id: wireId,
    status: z.string(),
    expirationTime: wireTime,
    deliveryMode: z.looseObject({ address: optionalText }).optional().catch(undefined),
    eventFilters: z.array(z.unknown()).catch([]),
    disabledFilters: z.array(z.unknown()).catch([]),
  })
  .transform((subscription): ProviderSubscription => ({
    subscriptionId: subscription.id,
    topic: topicOf([...subscription.eventFilters, ...subscription.disabledFilters]),
    status: subscription.status,
    expiresAt: subscription.expirationTime,
    address: subscription.deliveryMode?.address ?? '',
    disabledFilters: subscription.disabledFilters.length,
  }))

/** The answer has filters with the account's id; a disabled filter is a member of an object. */
function topicOf(filters: readonly unknown[]): Topic {
  const has = (path: string): boolean => filters.some((filter) => JSON.stringify(filter).includes(path))
  if (has('/message-threads/entries/sync')) return 'threads'
  return has('/sms/consents') ? 'consents' : 'messages'
}

/** Other products of the same app may have PubNub or WebSocket subscriptions, which look different. */
const webhookSchema = z.looseObject({ deliveryMode: z.looseObject({ transportType: z.literal('WebHook') }) })

const listSchema = z
  .looseObject({ records: z.array(z.unknown()) })
  .transform((list) => list.records.filter((record) => webhookSchema.safeParse(record).success))
  .pipe(z.array(subscriptionSchema))
