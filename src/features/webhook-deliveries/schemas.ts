import { z } from 'zod'
import { MESSAGE_ID } from '../../core/ids.ts'
import { DELIVERY_KINDS, DELIVERY_OUTCOMES } from '../../db/schema/webhooks.ts'
import { fails } from '../../http/route.ts'
import {
  dateValue,
  endDate,
  idFilter,
  oneOfFilter,
  pageNumber,
  pageSize,
  startDate,
  textFilter,
} from '../../http/list-query.ts'

export const DeliveriesQuery = z.object({
  appId: textFilter,
  triggerId: textFilter,
  messageId: idFilter(MESSAGE_ID, 'badMessageIdFilter'),
  outcome: oneOfFilter(DELIVERY_OUTCOMES, 'badOutcome'),
  kind: oneOfFilter(DELIVERY_KINDS, 'badKind'),
  startDate,
  endDate,
  page: pageNumber,
  limit: pageSize,
})
export type DeliveriesQuery = z.output<typeof DeliveriesQuery>

/** Any text is accepted; an unknown id is not found. */
export const DeliveryParams = z.object({
  deliveryId: z.string().meta({ example: 'msg_0123456789ab:app_0123456789abcdef' }),
})

export const Redelivered = z.object({ deliveryId: z.string(), attemptNumber: z.int().meta({ example: 2 }) })
export type Redelivered = z.infer<typeof Redelivered>

const destinationId = z
  .string(fails('forbidden'))
  .nullish()
  .transform((id) => id ?? undefined)

export const RecoverBody = z.object(
  {
    since: dateValue('badSince', 'start').meta({ example: '2026-11-21T02:00:00Z' }),
    until: dateValue('badUntil', 'end').nullish().meta({ description: 'Now, if absent' }),
    appId: destinationId,
    triggerId: destinationId,
  },
  fails('badSince'),
)
export type RecoverBody = z.output<typeof RecoverBody>

export const Recovered = z.object({ scheduled: z.int().meta({ example: 42 }) })
export type Recovered = z.infer<typeof Recovered>
