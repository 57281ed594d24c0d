import { z } from 'zod'
import { MESSAGE_ID } from '../../core/ids.ts'
import { DELIVERY_KINDS, DELIVERY_OUTCOMES } from '../../db/schema/webhooks.ts'
import { endDate, idFilter, oneOfFilter, pageNumber, pageSize, startDate, textFilter } from '../../http/list-query.ts'

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
