import { z } from 'zod'
import { appId, tenantId } from '../fields/answer-fields.ts'
import { name } from '../fields/name.ts'
import { WebhookEvent, refusing } from '../fields/named-enums.ts'
import { App } from './app.ts'
import { APP_ID, TENANT_ID } from '../../core/ids.ts'
import { errorTexts } from '../../core/errors.ts'
import { MAX_BODY_ENTRIES, MAX_WEBHOOK_URL_LENGTH } from '../../core/limits.ts'
import { type Route, fails } from '../http/route.ts'

const webhookUrl = z
  .string(fails('badWebhookUrl'))
  .min(1, fails('badWebhookUrl'))
  .max(MAX_WEBHOOK_URL_LENGTH, fails('badWebhookUrl'))
  .nullable()
  .meta({
    description: 'https:// in production, http:// accepted elsewhere; at most 2000 characters; null for none',
    format: 'uri',
    example: 'https://example.com/sms',
  })

export const RegisterBody = z
  .object(
    {
      name,
      tenantId: z
        .string(fails('missingTenantId'))
        .min(1, fails('missingTenantId'))
        .regex(TENANT_ID, fails('badTenantId'))
        .meta({ description: 'Your own tenant', example: 'tenant_0123456789abcdef' }),
      webhookUrl: webhookUrl.optional().transform((url) => url ?? null),
      role: z
        .literal('app', fails('forbidden'))
        .nullish()
        .transform(() => 'app' as const),
    },
    fails('badName'),
  )
  .meta({ id: 'RegisterAppRequest' })
export type RegisterBody = z.output<typeof RegisterBody>

export const Registered = z
  .object({
    appId,
    name: z.string().meta({ example: 'Shop' }),
    apiKey: z.string().meta({ description: 'Shown once', example: 'sgw_…' }),
    apiKeyPrefix: z.string().meta({ example: 'sgw_Qm3xT9aL' }),
    webhookSecret: z.string().meta({ description: 'Shown once', example: 'whsec_…' }),
    role: z.literal('app'),
    tenantId,
  })
  .meta({ id: 'RegisteredApp' })
export type Registered = z.infer<typeof Registered>

/** What registering an app takes and answers, by an app of its tenant or by an operator. */
export const registration = {
  body: RegisterBody,
  priority: ['badName', 'missingTenantId', 'badTenantId', 'badWebhookUrl', 'forbidden'],
  secret: true,
  status: 201,
  response: Registered,
  errors: {
    400: errorTexts('badName', 'missingTenantId', 'badTenantId', 'tenantNotActive', 'badWebhookUrl', 'badJson'),
    409: ['Tenant has reached its limit of 100 apps'],
  },
} satisfies Partial<Route>

export const AppParams = z.object({
  appId: z
    .string()
    .regex(APP_ID, fails('badAppId'))
    .meta({ description: 'Your own app', example: 'app_0123456789abcdef' }),
})

export const UpdateBody = z
  .object(
    {
      webhookUrl: webhookUrl.optional(),
      isActive: z
        .boolean(fails('badIsActive'))
        .optional()
        .meta({ description: '`false` deactivates the app; only the operator can activate it again' }),
    },
    fails('badJson'),
  )
  .meta({ id: 'UpdateAppRequest' })
export type UpdateBody = z.output<typeof UpdateBody>

const events = z
  .array(refusing(WebhookEvent, 'badEvents'), fails('badEvents'))
  .max(MAX_BODY_ENTRIES, fails('badEvents'))
  .meta({
    description: 'An empty list is allowed; an event listed twice counts once',
    example: ['sms_inbound', 'sms_status'],
  })
export const WebhookEventsBody = z.object({ events }, fails('badJson')).meta({ id: 'SetWebhookEventsRequest' })
export const WebhookEvents = z
  .object({
    events: z.array(WebhookEvent).meta({ example: ['sms_inbound', 'sms_status'] }),
  })
  .meta({ id: 'WebhookEvents' })
export type WebhookEvents = z.infer<typeof WebhookEvents>

export const RotatedKey = z
  .object({
    apiKey: z.string().meta({ description: 'Shown once', example: 'sgw_…' }),
    apiKeyPrefix: z.string().meta({ description: 'The first 12 characters of the key', example: 'sgw_Qm3xT9aL' }),
  })
  .meta({ id: 'RotatedKey' })
export type RotatedKey = z.infer<typeof RotatedKey>
export const RotatedSecret = z
  .object({ webhookSecret: z.string().meta({ description: 'Shown once', example: 'whsec_…' }) })
  .meta({ id: 'RotatedWebhookSecret' })
export type RotatedSecret = z.infer<typeof RotatedSecret>
export const TestResult = z
  .object({
    ok: z.boolean(),
    status: z.int().optional().meta({ description: "The destination's HTTP status; 0 when there was no response" }),
    error: z.string().optional(),
    body: z.string().optional().meta({ description: 'First 256 bytes of the response body' }),
  })
  .meta({ id: 'WebhookTestResult' })
export type TestResult = z.infer<typeof TestResult>

export const AppList = z.object({ apps: z.array(App) }).meta({ id: 'AppList' })
