import { FILTER_REFUSED, isAboutAddress } from '../provider-subscription.ts'
import { meansRevoked } from '../refresh-policy.ts'
import {
  FOREIGN_OWNER,
  LOGINS_USED_UP,
  NO_SMS_NUMBER,
  type ProviderFailure,
  type Step,
  TOKENS_AWAITED,
  isForeign,
} from '../provider.ts'
import { PROXY_FIX, isRefusedByProxy } from '../refused-by-proxy.ts'
import { NO_REFRESH_TOKEN_CODE } from './oauth.ts'

/**
 * Says in a sentence what a person can do about a refusal. Uses only codes and a permission's name from the provider's answer (RingCentral
 * guide, "Error handling", and the error codes of its OpenAPI). `command`: connects the extension again.
 */
export function fixOf(failure: ProviderFailure, step: Step, publicUrl: string, command?: string): string {
  if (failure.reason === 'rate_limited') return wait(failure)
  if (isIntercepted(failure)) return intercepted(failure, step)
  if (isRefusedByProxy(failure.code)) return `RingCentral cannot be reached: ${PROXY_FIX}.`
  // A lost grant would have made the extension revoked, so this one is not lost.
  if (step === 'refresh' && failure.oauthError === 'invalid_grant') return suspended(failure)
  if (step === 'jwt' && failure.oauthError === 'invalid_grant')
    return meansRevoked(failure) ? JWT_REFUSED : suspended(failure)
  if (failure.oauthError === 'unauthorized_client') return wrongGrant(failure, step, publicUrl)
  if (isAboutAddress(failure)) return unreachable(publicUrl)
  const known = FIXES[failure.code ?? '']
  if (known !== undefined) return known(failure, step, publicUrl, command)
  if (failure.oauthError === 'invalid_client') return WRONG_CLIENT
  if (failure.oauthError === 'invalid_grant') return CODE_ENDED
  if (failure.reason === 'unauthorized') return tokenRefused(command)
  if (step === 'threads' && failure.reason === 'rejected') return NO_THREADS
  if (failure.status === 403)
    return `${missingPermission(failure, step, publicUrl, command)} (RingCentral answered 403.)`
  if (failure.status !== null && failure.reason === 'rejected')
    return `RingCentral refused with status ${failure.status}: its code and request id are in the log of the gateway.`
  return 'RingCentral could not be reached, or gave an unexpected answer: try again in a few minutes.'
}

/** Whether the refusal lasts until a person acts or until the requested pause is over. */
export const isStanding = ({ reason, code, oauthError }: ProviderFailure): boolean =>
  reason === 'rate_limited' ||
  reason === 'unauthorized' ||
  reason === 'intercepted' ||
  (reason === 'rejected' && (oauthError !== 'invalid_grant' || FIXES[code ?? ''] === redirectUri))

type Fix = (failure: ProviderFailure, step: Step, publicUrl: string, command?: string) => string

const CODE_ENDED = 'The login took longer than a minute or was used before: start again with a new link.'
const JWT_REFUSED =
  'The JWT is not one that RingCentral accepts from this app: it was deleted, has expired, is not whole, or is for other apps. Make another one in the developer console (Credentials, Create JWT), for this app.'
const WRONG_CLIENT =
  'RC_CLIENT_ID or RC_CLIENT_SECRET does not belong to the RingCentral app: copy both from the developer console again.'

function intercepted({ status }: ProviderFailure, step: Step): string {
  const next = NEXT[step] ?? ''
  return `Something between this machine and RingCentral (a proxy, a firewall, a CDN) answered with status ${status}: let calls to RC_SERVER_URL pass.${next}`
}

const isIntercepted = (failure: ProviderFailure): boolean =>
  failure.reason === 'intercepted' || (failure.reason === 'unauthorized' && isForeign(failure))

/** What to do after the cause is fixed, if nothing is retried automatically. */
const NEXT: Partial<Readonly<Record<Step, string>>> = {
  authorization: ' Then start again with a new link.',
  extension: ' Then start again with a new link.',
}

const NO_THREADS =
  'Make its user an SMS recipient of the number, and give it the license Business SMS Booster, in the RingCentral admin portal.'

const tokenRefused = (command?: string): string =>
  `RingCentral refuses its access token, although it was just refreshed: connect it again${command === undefined ? '' : ` (${command})`}, and check that the RingCentral app is still active.`

const suspended = ({ code }: ProviderFailure): string =>
  `RingCentral refuses this user for now (${code ?? 'invalid_grant'}): an administrator can undo that in the RingCentral admin portal.`

const wrongGrant: Fix = (_, step, publicUrl) => {
  const isJwt = step === 'jwt'
  const needed = `The RingCentral app may not use this grant: its authentication must be ${isJwt ? '"JWT auth flow"' : '"3-legged OAuth, authorization code"'}.`
  // Somebody who moves from JWTs to links already has an app for links.
  return isJwt && publicUrl.startsWith('https://') ? `${needed} ${OR_BY_LINK}` : needed
}

const OR_BY_LINK = 'Or connect it by a link (sgw extensions invite --tenant TENANT).'

const redirectUri: Fix = (_, __, publicUrl) =>
  `The redirect URI ${publicUrl}/v1/rc/callback is not registered: enter exactly this address in the settings of the RingCentral app.`

const unreachable = (publicUrl: string): string =>
  `RingCentral cannot reach ${publicUrl}/v1/webhooks/provider: it must be public, by https with a valid certificate.`

const FIXES: Readonly<Record<string, Fix>> = {
  [NO_REFRESH_TOKEN_CODE]: () =>
    'RingCentral gave no refresh token: tick "Issue refresh tokens" in the settings of the RingCentral app.',
  'OAU-106': () => CODE_ENDED,
  'OAU-108': () => CODE_ENDED,
  'OAU-109': redirectUri,
  'OAU-113': redirectUri,
  'OAU-146': () =>
    'RC_CLIENT_SECRET is not the secret of this RingCentral app: copy it from the developer console again.',
  'OAU-153': () => 'RC_CLIENT_ID is not known to RingCentral: copy it from the developer console again.',
  'OAU-112': wrongGrant,
  'OAU-125': wrongGrant,
  'OAU-251': wrongGrant,
  'CMN-401': missingPermission,
  'SUB-528': missingPermission,
  [FOREIGN_OWNER]: () =>
    'RingCentral answered with the tokens of another extension, which the gateway ignored: make sure that nothing between this machine and RC_SERVER_URL caches or mixes up its answers.',
  [FILTER_REFUSED]: (_, __, ___, command) =>
    `RingCentral refused events of inbound messages: the RingCentral app needs the permission ReadMessages (SMS includes it). Add it in the developer console, ${thenConnect(command)}`,
  [NO_SMS_NUMBER]: () =>
    'None of its numbers may send SMS: assign it one in the RingCentral admin portal, and register the number for SMS there.',
  'CMN-408': (failure, step) =>
    `The user lacks the permission ${failure.permission ?? USER_PERMISSIONS[step]}: give it to the user's role in the RingCentral admin portal.`,
  'SUB-505': () => 'This user and app have too many subscriptions at RingCentral: delete those that you do not need.',
}

function missingPermission(failure: ProviderFailure, step: Step, _publicUrl: string, command?: string): string {
  const permission = failure.permission ?? APP_PERMISSIONS[step]
  return `The RingCentral app lacks the permission ${permission}: add it in the developer console, ${thenConnect(command)}`
}

const thenConnect = (command?: string): string =>
  command === undefined ? 'then connect again.' : `then connect again: ${command}.`

/** The permission that each step needs, in case the answer does not name it. */
const APP_PERMISSIONS: Readonly<Record<Step, string>> = {
  authorization: 'ReadAccounts',
  jwt: 'ReadAccounts',
  refresh: 'ReadAccounts',
  extension: 'ReadAccounts',
  numbers: 'ReadAccounts',
  messages: 'ReadMessages',
  threads: 'SMS',
  send: 'SMS',
  subscription: 'SubscriptionWebhook',
}

const USER_PERMISSIONS: Readonly<Record<Step, string>> = {
  authorization: 'ReadExtensions',
  jwt: 'ReadExtensions',
  refresh: 'ReadExtensions',
  extension: 'ReadExtensions',
  numbers: 'ReadUserPhoneNumbers',
  messages: 'ReadMessages',
  threads: 'ReadMessages',
  send: 'OutboundSMS',
  subscription: 'ReadMessages',
}

const wait = (failure: ProviderFailure): string =>
  WAITS[failure.code ?? '']?.(waitOf(failure)) ??
  `RingCentral asked the gateway to wait ${waitOf(failure)}; calls work again after that.`

const WAITS: Readonly<Record<string, (time: string) => string>> = {
  [LOGINS_USED_UP]: (time) =>
    `RingCentral allows a user five logins a minute: its events start without your help within ${time}.`,
  [TOKENS_AWAITED]: (time) => `Its tokens could not be refreshed: the gateway tries again within ${time}.`,
}

const waitOf = ({ retryAfterMs }: ProviderFailure): string =>
  retryAfterMs === null ? 'a minute' : `${Math.max(1, Math.ceil(retryAfterMs / 1000))} s`
