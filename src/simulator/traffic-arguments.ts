import { z } from 'zod'
import { NEXT_FAULTS, SITUATIONS } from '../core/simulator-access.ts'
import type { EventFault } from './event-faults.ts'
import type { Fault, FaultRule, RandomFaults } from './faults.ts'
import type { InboundSms } from './inbound.ts'
import type { FinalOutcome } from './messages.ts'
import type { Limits } from './rate-limit.ts'

// The arguments of the knobs for messages, faults and requests.

const text = z.string().min(1)
const id = text.exactOptional()
const number = text.exactOptional()
const count = z.int().min(0)
/** Null: all until they are cleared. */
const calls = count.nullable().exactOptional()
const ms = z.number().min(0)

export const InboundShape = z.strictObject({
  from: number,
  fromExtensionNumber: text.exactOptional(),
  to: z.union([text, z.array(text)]).exactOptional(),
  extensionId: id,
  text: z.string().nullable().exactOptional(),
  attachments: z
    .array(
      z.strictObject({
        contentType: z.string(),
        fileName: z.string().exactOptional(),
        data: z.string().exactOptional(),
        size: count.exactOptional(),
        uri: z.string().exactOptional(),
      }),
    )
    .exactOptional(),
  messageId: id,
  copies: count.exactOptional(),
  form: z.enum(['current', 'old']).exactOptional(),
  deliver: z.boolean().exactOptional(),
}) satisfies z.ZodType<InboundSms>

export const PlanShape = z.strictObject({
  messageStatus: z.enum(['Delivered', 'SendingFailed', 'DeliveryFailed']),
  deliveryErrorCode: text.exactOptional(),
  calls: count.exactOptional(),
}) satisfies z.ZodType<FinalOutcome & { calls?: number }>

export const MessageStatusShape = z.strictObject({
  messageId: text,
  messageStatus: text,
  deliveryErrorCode: text.exactOptional(),
})

export const MessagesFilterShape = z.strictObject({
  extensionId: id,
  direction: z.enum(['Inbound', 'Outbound']).exactOptional(),
  limit: count.exactOptional(),
})

const answer = {
  status: z.int(),
  body: z.union([z.string(), z.custom<object>((value) => typeof value === 'object' && value !== null)]).exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
}

const plain = <Kind extends string>(kind: Kind) => z.strictObject({ kind: z.literal(kind) })
const perhapsFor = <Kind extends string>(kind: Kind) =>
  z.strictObject({ kind: z.literal(kind), ms: ms.exactOptional() })

const FaultShape = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('respond'), ...answer }),
  z.strictObject({ kind: z.literal('accept-then-respond'), ...answer }),
  z.strictObject({ kind: z.literal('late-accept'), ms }),
  z.strictObject({ kind: z.literal('delay'), ms }),
  perhapsFor('hang'),
  perhapsFor('accept-then-hang'),
  perhapsFor('drip-headers'),
  perhapsFor('drip-body'),
  plain('reset'),
  plain('close'),
  plain('accept-then-reset'),
  plain('accept-then-close'),
  plain('no-id'),
  plain('html'),
  plain('truncated'),
  plain('cut-body'),
]) satisfies z.ZodType<Fault>

export const FaultRuleShape = z.strictObject({
  route: text,
  extensionId: id,
  calls,
  after: count.exactOptional(),
  fault: FaultShape,
}) satisfies z.ZodType<FaultRule>

export const RandomFaultsShape = z
  .strictObject({
    seed: z.number(),
    rules: z.array(z.strictObject({ route: text, rate: z.number().min(0).max(1), fault: FaultShape })),
  })
  .nullable() satisfies z.ZodType<RandomFaults | null>

export const EventFaultShape = z.strictObject({
  kind: z.enum(['drop', 'delay', 'duplicate']),
  ms: ms.exactOptional(),
  copies: count.exactOptional(),
  subscriptionId: id,
  extensionId: id,
  calls,
}) satisfies z.ZodType<EventFault>

export const WishShape = z.strictObject({
  situation: z.enum(SITUATIONS),
  times: count.default(1),
  code: text.default('SMS-CAR-411'),
})

export const NextFaultShape = z.enum(NEXT_FAULTS).nullable()

export const LimitsShape = z.strictObject({
  enabled: z.boolean().exactOptional(),
  light: count.exactOptional(),
  medium: count.exactOptional(),
  heavy: count.exactOptional(),
  auth: count.exactOptional(),
  windowMs: ms.exactOptional(),
  penaltyMs: ms.exactOptional(),
}) satisfies z.ZodType<Partial<Limits>>

export const RequestsFilterShape = z.strictObject({
  route: id,
  extensionId: id,
  limit: count.exactOptional(),
})

export const CallsFilterShape = z.strictObject({
  from: z.string().optional(),
  to: z.string().optional(),
  since: z.number().optional(),
  limit: z.number().optional(),
})
