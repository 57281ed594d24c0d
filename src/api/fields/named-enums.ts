import { z } from 'zod'
import { EXTENSION_STATUSES } from '../../db/schema/connections.ts'
import { DIRECTIONS, MESSAGE_STATUSES } from '../../db/schema/messages.ts'
import { OPT_OUT_SOURCES } from '../../db/schema/opt-outs.ts'
import { TENANT_STATUSES } from '../../db/schema/tenants.ts'
import { DESTINATION_KINDS, DELIVERY_OUTCOMES, WEBHOOK_EVENTS } from '../../db/schema/webhooks.ts'

// Enums that several schemas share. Each is one named schema of the OpenAPI document, in fields and in parameters.

export const MessageStatus = namedEnum('MessageStatus', MESSAGE_STATUSES, 'Only inbound messages are `received`')
export const MessageDirection = namedEnum('MessageDirection', DIRECTIONS, 'Sent by the tenant, or received by it')
export const DeliveryOutcome = namedEnum(
  'DeliveryOutcome',
  DELIVERY_OUTCOMES,
  '`success` is a 2xx, `http_error` any other answer, `timeout` none within 5 s, `network_error` no connection',
)
export const DestinationKind = namedEnum(
  'DestinationKind',
  DESTINATION_KINDS,
  "An app's webhookUrl, or a trigger's callbackUrl",
)
export const ExtensionStatus = namedEnum(
  'ExtensionStatus',
  EXTENSION_STATUSES,
  'The gateway retries `refresh_failed`; `revoked` needs a new authorization',
)
export const TenantStatus = namedEnum('TenantStatus', TENANT_STATUSES, 'Only keys of `active` tenants are accepted')
export const WebhookEvent = namedEnum('WebhookEvent', WEBHOOK_EVENTS, "An event that an app's webhookUrl can get")
export const OptOutSource = namedEnum(
  'OptOutSource',
  OPT_OUT_SOURCES,
  'A keyword of the contact, a delivery code or a consent of the provider, or `PUT /v1/opt-outs`',
)

/** The same named enum, with the error that another value causes. */
export const refusing = <const T extends Record<string, string>>(named: z.ZodEnum<T>, error: string): z.ZodEnum<T> =>
  z.enum(named.def.entries, { error }).meta({ ...named.meta() })

/** The words that a filter takes; null if it takes others. */
export function wordsOf(filter: unknown): string[] | null {
  if (filter instanceof z.ZodOptional) return wordsOf(filter.unwrap())
  if (filter instanceof z.ZodPipe) return wordsOf(filter.def.out)
  return filter instanceof z.ZodEnum ? filter.options.map(String) : null
}

function namedEnum<const T extends readonly [string, ...string[]]>(id: string, values: T, description: string) {
  return z.enum(values).meta({ id, description })
}
