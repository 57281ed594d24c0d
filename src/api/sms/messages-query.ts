import { z } from 'zod'
import { MAX_CONTACTS_FOUND, MAX_CONTACT_LENGTH } from '../../core/limits.ts'
import { FAILURE_PATTERN, isFailure } from '../../core/message-failure.ts'
import { E164_PATTERN, isE164 } from '../../core/phone.ts'
import { MessageDirection, MessageStatus } from '../fields/named-enums.ts'
import {
  type ListFilter,
  appIdFilter,
  contactEndFilter,
  endDate,
  numberFilter,
  oneOfFilter,
  pageNumber,
  pageSize,
  shapeOf,
  startDate,
  tenantIdFilter,
  textFilter,
} from '../http/list-query.ts'
import { fails } from '../http/route.ts'
import { BAD_PARAMETER } from '../http/validated.ts'
import { LISTED_STATES } from './message-states.ts'

const ownNumber = numberFilter.pipe(z.string().refine(isE164, fails('badNumberOrContact')).optional())
/** A contact may also be a short code or a sender's name. */
const contact = numberFilter.pipe(z.string().max(MAX_CONTACT_LENGTH, fails('badNumberOrContact')).optional())

/** The filters of the messages: what each takes, and what a message must meet. The list, the counts of failures, `sgw messages list` and their tests follow from it. */
export const FILTERS = {
  appId: { takes: appIdFilter, where: 'app_id = ?' },
  tenantId: { takes: tenantIdFilter, where: null },
  userId: {
    takes: textFilter.meta({ description: 'As given when the message was sent', example: 'user-42' }),
    where: 'user_id = ?',
  },
  direction: {
    takes: oneOfFilter(MessageDirection).meta({ description: 'Only those sent, or only those received' }),
    where: 'direction = ?',
  },
  status: {
    takes: oneOfFilter(MessageStatus).meta({ description: 'Only those of this status' }),
    where: 'status = ?',
  },
  state: {
    takes: oneOfFilter(z.enum(LISTED_STATES)).meta({
      description:
        '`waiting` (`queued` or `sending`, not scheduled for later), `scheduled` (its `sendAt` is to come), `failed` (not cancelled), `cancelled`, or `undelivered`',
      example: 'waiting',
    }),
    where: null,
  },
  failure: {
    takes: textFilter.pipe(z.string().refine(isFailure, { error: BAD_PARAMETER }).optional()).meta({
      description:
        'Why it failed: `not_connected`, `unknown_number`, `revoked`, `expired`, `cancelled`, `unconfirmed`, `opted_out`, `no_media`, `rejected`, or `rejected:CODE` with the provider’s code',
      pattern: FAILURE_PATTERN,
      example: 'unknown_number',
    }),
    where: null,
  },
  from: { takes: numberFilter.meta({ description: "The sender's number" }), where: 'from_number = ?' },
  to: {
    takes: numberFilter.meta({ description: "The recipient's number", example: '+15555550199' }),
    where: 'to_number = ?',
  },
  number: {
    takes: ownNumber.meta({
      description: "The tenant's own number, in both directions",
      pattern: E164_PATTERN,
      example: '+15555550100',
    }),
    where: `iif(direction = 'outbound', from_number, to_number) = ?`,
  },
  contact: {
    takes: contact.meta({
      description: "The other number, a short code or a sender's name, in both directions",
      maxLength: MAX_CONTACT_LENGTH,
      example: '+15555550199',
    }),
    where: `iif(direction = 'outbound', to_number, from_number) = ?`,
  },
  contactEndsWith: {
    takes: contactEndFilter.meta({
      description: `The last digits of the other number, 3 to 15, in both directions. Of more than ${MAX_CONTACTS_FOUND} such contacts: 400 \`contactEndsWith matches too many contacts\``,
    }),
    where: null,
  },
  startDate: { takes: startDate, where: 'created_at >= ?' },
  endDate: { takes: endDate, where: 'created_at <= ?' },
} as const satisfies Record<string, ListFilter>

export const MessagesQuery = z.object({
  ...shapeOf(FILTERS),
  include: oneOfFilter(z.enum(['delivery'])).meta({
    example: 'delivery',
    description:
      '`delivery` adds `webhooks`, and to outbound messages `deliveryStatus`, `deliveryError`, `sendAt` and `waiting`',
  }),
  page: pageNumber,
  limit: pageSize,
})
export type MessagesQuery = z.output<typeof MessagesQuery>
