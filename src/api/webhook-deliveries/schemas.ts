import { z } from 'zod'
import { DestinationKind, DeliveryOutcome } from '../fields/named-enums.ts'
import { MESSAGE_ID } from '../../core/ids.ts'
import { MAX_DISMISSED_IDS } from '../../core/limits.ts'
import { fails } from '../http/route.ts'
import {
  appIdFilter,
  dateValue,
  endDate,
  idFilter,
  oneOfFilter,
  pageNumber,
  pageSize,
  startDate,
  triggerIdFilter,
} from '../http/list-query.ts'

export const DeliveriesQuery = z.object({
  appId: appIdFilter,
  triggerId: triggerIdFilter,
  messageId: idFilter(MESSAGE_ID).meta({
    description: 'Only those of this message',
    example: 'msg_0123456789ab',
  }),
  outcome: oneOfFilter(DeliveryOutcome).meta({ description: 'Only those with this outcome' }),
  state: oneOfFilter(z.enum(['never_arrived'])).meta({
    description:
      '`never_arrived`: each delivery once, by its latest attempt, if that failed, no other is under way or planned, its destination exists, and it was not dismissed',
    example: 'never_arrived',
  }),
  kind: oneOfFilter(DestinationKind).meta({ description: 'Only those to apps, or only those to triggers' }),
  startDate,
  endDate,
  page: pageNumber,
  limit: pageSize,
})
export type DeliveriesQuery = z.output<typeof DeliveriesQuery>

/** Any text is accepted; an unknown id is not found. */
export const DeliveryParams = z.object({
  deliveryId: z.string().meta({ description: 'The delivery', example: 'msg_0123456789ab:app_0123456789abcdef' }),
})

export const Redelivered = z
  .object({ deliveryId: z.string(), attemptNumber: z.int().min(1).meta({ example: 2 }) })
  .meta({ id: 'RedeliveredWebhook' })
export type Redelivered = z.infer<typeof Redelivered>

const destinationId = z
  .string(fails('forbidden'))
  .nullish()
  .transform((id) => id ?? undefined)

const range = {
  since: dateValue('badSince', 'start').meta({ example: '2026-11-21T02:00:00Z' }),
  until: dateValue('badUntil', 'end').nullish().meta({ description: 'Now, if absent' }),
  appId: destinationId,
  triggerId: destinationId,
}
export const RecoverBody = z.object(range, fails('badSince')).meta({ id: 'RecoverWebhooksRequest' })
/** A range of failures, of all destinations of a tenant or of one. */
export type RangeBody = z.output<typeof RecoverBody>

export const Recovered = z.object({ scheduled: z.int().min(0).meta({ example: 42 }) }).meta({ id: 'RecoveredWebhooks' })
export type Recovered = z.infer<typeof Recovered>

/** Deliveries by id, without counting unknown ids, or by a range of time. */
export const DismissBody = z
  .object(
    {
      deliveryIds: z
        .array(z.string(fails('badDeliveryIds')), fails('badDeliveryIds'))
        .max(MAX_DISMISSED_IDS, fails('badDeliveryIds'))
        .nullish()
        .meta({ description: 'Instead of a range', example: ['msg_0123456789ab:app_0123456789abcdef'] }),
      ...range,
      since: range.since.nullish().meta({ description: 'Needed without `deliveryIds`' }),
    },
    fails('badSince'),
  )
  .refine(
    ({ deliveryIds, since, until, appId, triggerId }) =>
      (deliveryIds ?? null) === null || (since ?? until ?? appId ?? triggerId ?? null) === null,
    fails('badDeliveryIds'),
  )
  .refine(({ deliveryIds, since }) => (deliveryIds ?? since ?? null) !== null, fails('badSince'))
  .meta({ id: 'DismissWebhooksRequest' })
export type DismissBody = z.output<typeof DismissBody>

export const Dismissed = z.object({ dismissed: z.int().min(0).meta({ example: 42 }) }).meta({ id: 'DismissedWebhooks' })
export type Dismissed = z.infer<typeof Dismissed>
