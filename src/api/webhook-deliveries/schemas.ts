import { z } from 'zod'
import { DestinationKind, DeliveryOutcome } from '../fields/named-enums.ts'
import { MESSAGE_ID } from '../../core/ids.ts'
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
  outcome: oneOfFilter(DeliveryOutcome).meta({ description: 'Only those that ended so' }),
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

export const RecoverBody = z
  .object(
    {
      since: dateValue('badSince', 'start').meta({ example: '2026-11-21T02:00:00Z' }),
      until: dateValue('badUntil', 'end').nullish().meta({ description: 'Now, if absent' }),
      appId: destinationId,
      triggerId: destinationId,
    },
    fails('badSince'),
  )
  .meta({ id: 'RecoverWebhooksRequest' })
export type RecoverBody = z.output<typeof RecoverBody>

export const Recovered = z.object({ scheduled: z.int().min(0).meta({ example: 42 }) }).meta({ id: 'RecoveredWebhooks' })
export type Recovered = z.infer<typeof Recovered>
