import { z } from 'zod'
import { APP_ID, TENANT_ID } from '../../core/ids.ts'
import { MAX_APP_NAME_LENGTH, MAX_BODY_ENTRIES, MAX_WEBHOOK_URL_LENGTH } from '../../core/limits.ts'
import { isPrintable } from '../../core/printable.ts'
import { WEBHOOK_EVENTS } from '../../db/schema/webhooks.ts'
import { fails } from '../../http/route.ts'

const isText = (value: string): boolean => isPrintable(value) && value.isWellFormed()

const webhookUrl = z
  .string(fails('badWebhookUrl'))
  .min(1, fails('badWebhookUrl'))
  .max(MAX_WEBHOOK_URL_LENGTH, fails('badWebhookUrl'))
  .nullable()
  .meta({ description: 'https:// in production, http:// accepted elsewhere; at most 2000 characters' })

export const RegisterBody = z.object(
  {
    name: z
      .string(fails('badName'))
      .transform((name) => name.trim())
      .pipe(
        z.string().min(1, fails('badName')).max(MAX_APP_NAME_LENGTH, fails('badName')).refine(isText, fails('badName')),
      ),
    tenantId: z
      .string(fails('missingTenantId'))
      .min(1, fails('missingTenantId'))
      .regex(TENANT_ID, fails('badTenantId')),
    webhookUrl: webhookUrl.optional().transform((url) => url ?? null),
    role: z
      .literal('app', fails('forbidden'))
      .nullish()
      .transform(() => 'app' as const),
  },
  fails('badName'),
)
export type RegisterBody = z.output<typeof RegisterBody>

export const Registered = z.object({
  appId: z.string(),
  name: z.string(),
  apiKey: z.string().meta({ description: 'Shown once' }),
  apiKeyPrefix: z.string(),
  webhookSecret: z.string().meta({ description: 'Shown once' }),
  role: z.literal('app'),
  tenantId: z.string(),
})
export type Registered = z.infer<typeof Registered>

export const AppParams = z.object({ appId: z.string().regex(APP_ID, fails('badAppId')) })

export const UpdateBody = z.object(
  { webhookUrl: webhookUrl.optional(), isActive: z.boolean(fails('badIsActive')).optional() },
  fails('badJson'),
)
export type UpdateBody = z.output<typeof UpdateBody>

const events = z
  .array(z.enum(WEBHOOK_EVENTS, fails('badEvents')), fails('badEvents'))
  .max(MAX_BODY_ENTRIES, fails('badEvents'))
  .meta({
    description: 'An empty list is allowed; an event that is listed twice counts once',
    example: ['sms_inbound', 'sms_status'],
  })
export const WebhookEventsBody = z.object({ events }, fails('badJson'))
export const WebhookEvents = z.object({
  events: z.array(z.enum(WEBHOOK_EVENTS)).meta({ example: ['sms_inbound', 'sms_status'] }),
})
export type WebhookEvents = z.infer<typeof WebhookEvents>

export const RotatedKey = z.object({ apiKey: z.string(), apiKeyPrefix: z.string() })
export type RotatedKey = z.infer<typeof RotatedKey>
export const RotatedSecret = z.object({ webhookSecret: z.string() })
export const TestResult = z.object({
  ok: z.boolean(),
  status: z.int().optional().meta({ description: "The destination's HTTP status; 0 when there was no response" }),
  error: z.string().optional(),
  body: z.string().optional().meta({ description: 'First 256 bytes of the response body' }),
})
export type TestResult = z.infer<typeof TestResult>
