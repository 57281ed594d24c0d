import type { Provider } from '../provider.ts'
import { readAttachment } from './attachments.ts'
import { listConsents } from './consents.ts'
import { openEventSocket } from './event-socket.ts'
import { readCampaign } from './campaign.ts'
import { getExtension } from './extension.ts'
import { readThreadsFeature } from './features.ts'
import { fixOf, isStanding } from './fixes.ts'
import { parseInboundEvent } from './inbound-event.ts'
import { listMessages } from './message-store.ts'
import { listNumbers } from './numbers.ts'
import { authorizeUrl, exchangeCode, exchangeJwt, refresh, revoke } from './oauth.ts'
import { probeAuthorize } from './probe-authorize.ts'
import { type RingCentralOptions, createRequester } from './request.ts'
import { sendSms } from './sms.ts'
import * as subscription from './subscription.ts'
import { MessageThreads } from './threads.ts'

/**
 * Implements the provider port with RingCentral's REST API v1.0. Each call gets its token as an argument, so that one client
 * serves all tenants. Throws only for an unusable configuration.
 */
export function createRingCentral(options: RingCentralOptions): Provider {
  const requester = createRequester(options)
  const threads = new MessageThreads(requester)
  return {
    clockSkewMs: () => requester.lag.skewMs,
    ratePerMinute: (group) => requester.rates.perMinute(group),
    hasAnswered: () => requester.lag.hasAnswered,
    authorizeUrl: (request) => authorizeUrl(requester.address, options.clientId, request),
    exchangeCode: (request) => exchangeCode(requester, request),
    exchangeJwt: (jwt) => exchangeJwt(requester, jwt),
    refresh: (refreshToken, isKeptByJwt = false) => refresh(requester, refreshToken, isKeptByJwt),
    revoke: (token) => revoke(requester, token),
    getExtension: (accessToken) => getExtension(requester, accessToken),
    listNumbers: (accessToken) => listNumbers(requester, accessToken),
    readCampaign: (accessToken, id) => readCampaign(requester, accessToken, id),
    sendSms: (accessToken, message) => sendSms(requester, accessToken, message),
    listMessages: (accessToken, query) => listMessages(requester, accessToken, query),
    readThreadsFeature: (accessToken) => readThreadsFeature(requester, accessToken),
    listConsents: (accessToken, query) => listConsents(requester, accessToken, query),
    listThreadMessages: (accessToken, query) => threads.list(accessToken, query),
    startThreadSync: (accessToken) => threads.start(accessToken),
    syncThreads: (accessToken, query) => threads.sync(accessToken, query),
    readAttachment: (accessToken, attachment) => readAttachment(requester, accessToken, attachment),
    createSubscription: (accessToken, request) => subscription.createSubscription(requester, accessToken, request),
    getSubscription: (accessToken, id) => subscription.getSubscription(requester, accessToken, id),
    listSubscriptions: (accessToken) => subscription.listSubscriptions(requester, accessToken),
    renewSubscription: (accessToken, id) => subscription.renewSubscription(requester, accessToken, id),
    deleteSubscription: (accessToken, id) => subscription.deleteSubscription(requester, accessToken, id),
    openEventSocket: (accessToken, request) => openEventSocket(requester, options, accessToken, request),
    parseInboundEvent,
    probeAuthorize: (request) =>
      probeAuthorize(authorizeUrl(requester.address, options.clientId, request), options.throughProxy === true),
    fixOf,
    isStanding,
  }
}
