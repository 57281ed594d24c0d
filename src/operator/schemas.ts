import { isIP } from 'node:net'
import { z } from 'zod'
import { name } from '../api/fields/name.ts'
import { pageFields, tenantId as ownedTenantId, time } from '../api/fields/answer-fields.ts'
import { countedAddress, parseAddress } from '../auth/client-address.ts'
import { isE164 } from '../core/phone.ts'
import { APP_ID, MESSAGE_ID, TENANT_ID } from '../core/ids.ts'
import { bareJwt } from '../core/jwt.ts'
import { MAX_BODY_ENTRIES, MAX_JWT_LENGTH } from '../core/limits.ts'
import { App } from '../api/apps/app.ts'
import { NotifyQuery, SendBody } from '../api/sms/schemas.ts'
import { idFilter, pageNumber, pageSize } from '../api/http/list-query.ts'
import { fails } from '../api/http/route.ts'
import { TenantStatus, refusing } from '../api/fields/named-enums.ts'

const tenantId = z
  .string(fails('badTenantId'))
  .regex(TENANT_ID, fails('badTenantId'))
  .meta({ description: 'The tenant', example: 'tenant_0123456789abcdef' })

export const SessionBody = z
  .object(
    {
      login: z.unknown().optional().meta({
        description:
          'The part of a link of `sgw console` after `#login=`. In development, a page on this machine needs none.',
        type: 'string',
      }),
    },
    fails('badJson'),
  )
  .meta({ id: 'OperatorSessionRequest' })
export const SessionAnswer = z
  .object({
    sessionId: z.string(),
    token: z.string().meta({ description: 'Shown once. It goes into the header `Authorization: Bearer …`' }),
    expiresAt: time,
  })
  .meta({ id: 'OperatorSession' })
export type SessionAnswer = z.infer<typeof SessionAnswer>
export const LinkAnswer = z
  .object({
    url: z.string(),
    alsoAt: z
      .array(z.string())
      .optional()
      .meta({ description: 'The same link for the machines of `PLAIN_HTTP_CIDRS`' }),
    expiresAt: time,
  })
  .meta({ id: 'OperatorLink' })
export type LinkAnswer = z.infer<typeof LinkAnswer>

export const Tenant = z
  .object({ tenantId: ownedTenantId, name: z.string().meta({ example: 'Example Ltd' }), status: TenantStatus })
  .meta({ id: 'Tenant' })
export type Tenant = z.infer<typeof Tenant>
export const TenantItem = Tenant.extend({
  apps: z.int().meta({ description: 'Active ones' }),
  extensions: z.int().meta({ description: 'Connected and not revoked' }),
  createdAt: time,
}).meta({ id: 'TenantItem' })
export type TenantItem = z.infer<typeof TenantItem>
export const TenantList = z.object({ tenants: z.array(TenantItem), ...pageFields }).meta({ id: 'TenantList' })
export type TenantList = z.infer<typeof TenantList>
export const TenantsQuery = z.object({ page: pageNumber, limit: pageSize })
export const ConnectJwtBody = z
  .object(
    {
      tenantId,
      jwt: z
        .string(fails('badJwt'))
        .max(MAX_JWT_LENGTH, fails('badJwt'))
        .transform(bareJwt)
        .pipe(z.string().min(1, fails('badJwt')))
        .meta({ description: 'As copied from the developer console; spaces and line breaks are ignored' }),
    },
    fails('badTenantId'),
  )
  .meta({ id: 'ConnectJwtRequest' })
export const ConnectedByJwt = z
  .object({
    tenantId: ownedTenantId,
    extensionId: z.string().meta({ example: '629890016' }),
    name: z.string().meta({ example: 'Reception' }),
    phoneNumbers: z.array(z.string()).meta({ description: 'SMS-capable numbers, E.164', example: ['+15555550100'] }),
    receiving: z.boolean().meta({ description: 'Whether its inbound messages come at once' }),
    fixes: z.array(z.string()).meta({ description: 'What to fix at the provider, one sentence each' }),
  })
  .meta({ id: 'ConnectedByJwt' })
export type ConnectedByJwt = z.infer<typeof ConnectedByJwt>
export const TenantBody = z.object({ name }, fails('badName')).meta({ id: 'CreateTenantRequest' })
export const TenantParams = z.object({ tenantId })
export const TenantStatusBody = z
  .object({ status: refusing(TenantStatus, 'badStatus') }, fails('badStatus'))
  .meta({ id: 'SetTenantStatusRequest' })

export const TenantQuery = z.object({
  tenantId: idFilter(TENANT_ID, 'badTenantId').meta({
    description: 'Only those of this tenant',
    example: 'tenant_0123456789abcdef',
  }),
})
export const AppsQuery = TenantQuery.extend({
  registeredBy: idFilter(APP_ID, 'badAppId').meta({
    description: 'Only those that this app registered with its key',
    example: 'app_0123456789abcdef',
  }),
})
export const AppList = z
  .object({
    apps: z.array(App.extend({ tenantName: Tenant.shape.name }).meta({ id: 'OperatorApp' })),
  })
  .meta({ id: 'OperatorAppList' })
export type AppList = z.infer<typeof AppList>

export const Alert = z
  .object({
    alert: z.string(),
    subject: z.string().meta({ description: 'The id of the affected thing, or `gateway`' }),
    text: z.string().meta({ description: 'A complete message, of `what` and `fix`' }),
    what: z.string().meta({ description: 'What is wrong with which thing, without the final period' }),
    fix: z.string().meta({ description: 'What to do about it' }),
    since: time,
    tenantId: z.string().optional(),
    tenantName: z.string().optional(),
    detail: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
    mutedUntil: z
      .union([time, z.literal('over')])
      .optional()
      .meta({ description: 'Until when it is muted; `over`: until it is over; absent if it is not muted' }),
    mutedBy: z
      .enum(['session', 'cli'])
      .optional()
      .meta({ description: 'Who has muted it: an operator’s session, or `sgw`' }),
  })
  .meta({ id: 'Alert' })
export type Alert = z.infer<typeof Alert>
export const Alerts = z.object({ alerts: z.array(Alert) }).meta({ id: 'AlertList' })
export type Alerts = z.infer<typeof Alerts>

export const ExtensionLinkBody = z.object({ kind: z.enum(['connect', 'invite']) })
export const KeysBody = z.object({
  newestKey: z
    .string()
    .nullish()
    .meta({ description: 'Id of the newest key of the caller, to compare with the server’s' }),
})
export const UnblockBody = z.object(
  {
    address: z.string(fails('badAddress')).transform((text, context) => {
      const bare = text.trim().replace(/\/64$/, '')
      // The parser would read 1.2.3 as 1.2.0.3.
      const parsed = isIP(bare) === 0 ? null : parseAddress(bare)
      if (parsed !== null) return countedAddress(parsed)
      context.addIssue({ code: 'custom', message: 'badAddress' })
      return z.NEVER
    }),
  },
  fails('badAddress'),
)
export const EraseBody = z.object(
  {
    phone: z.string(fails('badPhone')).refine(isE164, fails('badPhone')),
    dryRun: z.boolean().default(false),
    cancel: z.boolean().default(false),
  },
  fails('badPhone'),
)
export const CancelBody = z
  .object({
    messageIds: z
      .array(z.string().regex(MESSAGE_ID, fails('badMessageId')))
      .max(MAX_BODY_ENTRIES, fails('badMessageId'))
      .optional(),
    tenantId: tenantId.optional(),
    appId: z.string().regex(APP_ID, fails('badAppId')).optional(),
    state: z.enum(['waiting', 'scheduled'], fails('badState')).optional(),
    dryRun: z.boolean().default(false),
  })
  .refine(({ messageIds, tenantId: tenant }) => (messageIds ?? tenant) !== undefined, fails('badTenantId'))
export const CancelAnswer = z.object({ cancelled: z.int(), left: z.int() })
export type CancelAnswer = z.infer<typeof CancelAnswer>
export const SendMessageBody = z.object({
  message: SendBody,
  appId: z.string().regex(APP_ID, fails('badAppId')).optional(),
})
export const SenderQuery = z.object({ from: z.string(), appId: idFilter(APP_ID, 'badAppId') })
export const NotifyAsQuery = NotifyQuery.extend({ appId: idFilter(APP_ID, 'badAppId') })
