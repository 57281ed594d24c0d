import { z } from 'zod'
import {
  CONSENTS_ANSWERS,
  GRANTS,
  NUMBER_FORMS,
  PERMISSIONS,
  type Permission,
  type ProviderSettings,
  SHARED_OWNER_ANSWERS,
} from '../core/provider-settings.ts'
import type { MembersOf } from './arguments.ts'

export type Settings = ProviderSettings

const flag = z.boolean().exactOptional()
const amount = z.number().min(0).exactOptional()
const lifetime = z.number().positive().nullable().exactOptional()
const listOf = <T extends z.ZodType>(item: T) => z.array(item).exactOptional()

/** Checks a change of the settings. */
export const SettingsShape = z.strictObject({
  permissions: listOf(z.enum(PERMISSIONS)),
  loginPage: flag,
  redirectUris: listOf(z.string()),
  grants: listOf(z.enum(GRANTS)),
  issueRefreshTokens: flag,
  accessTokenSeconds: amount,
  refreshTokenSeconds: amount,
  sentAfterMs: amount,
  deliveredAfterMs: z.number().min(0).nullable().exactOptional(),
  numberForms: z.array(z.enum(NUMBER_FORMS)).min(1).exactOptional(),
  sharedOwner: z.enum(SHARED_OWNER_ANSWERS).exactOptional(),
  queueEvents: flag,
  messageThreads: flag,
  readThreads: flag,
  consents: z.enum(CONSENTS_ANSWERS).exactOptional(),
  sessionSeconds: lifetime,
  sessionIdleSeconds: lifetime,
  indexDelayMs: amount,
  allowHttpWebhooks: flag,
  webhookTimeoutMs: amount,
  maxSubscriptionSeconds: amount,
  ticketSeconds: amount,
  ticketReuse: z.enum(['refused', 'replaces']).exactOptional(),
  socketSeconds: amount,
  socketIdleSeconds: amount,
  recoverySeconds: amount,
  recoveryBufferSize: amount,
  socketPingMs: amount,
  socketPongMs: amount,
  refuseFilters: flag,
  blacklistAfterMs: amount,
} satisfies MembersOf<Settings>)

/** The provider's maximum for webhooks is ten years. */
const TEN_YEARS_SECONDS = 315_360_000

export const defaultSettings = (allowHttpWebhooks: boolean): Settings => ({
  permissions: ['ReadMessages', 'ReadAccounts', 'SubscriptionWebhook', 'WebSocketsSubscription', 'SMS'],
  loginPage: false,
  redirectUris: [],
  grants: ['authorization_code', 'refresh_token', 'jwt'],
  issueRefreshTokens: true,
  accessTokenSeconds: 3600,
  refreshTokenSeconds: 604_800,
  sentAfterMs: 1000,
  deliveredAfterMs: null,
  numberForms: ['e164'],
  sharedOwner: 'shown',
  queueEvents: true,
  messageThreads: false,
  readThreads: true,
  consents: 'absent',
  sessionSeconds: null,
  sessionIdleSeconds: null,
  indexDelayMs: 0,
  allowHttpWebhooks,
  webhookTimeoutMs: 3000,
  maxSubscriptionSeconds: TEN_YEARS_SECONDS,
  ticketSeconds: 30,
  ticketReuse: 'refused',
  socketSeconds: 86_400,
  socketIdleSeconds: 1800,
  recoverySeconds: 180,
  recoveryBufferSize: 100,
  socketPingMs: 30_000,
  socketPongMs: 10_000,
  refuseFilters: false,
  blacklistAfterMs: 600_000,
})

/** Whether the app has a permission, directly or as part of another one. */
export const hasPermission = ({ permissions }: Settings, permission: Permission): boolean =>
  permissions.includes(permission) || (permission === 'ReadMessages' && permissions.includes('SMS'))
