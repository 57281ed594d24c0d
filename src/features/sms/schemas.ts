import { z } from 'zod'
import { MAX_BODY_UNITS, MAX_IDEMPOTENCY_KEY_LENGTH, MAX_USER_ID_LENGTH } from '../../core/limits.ts'
import { ENCODINGS } from '../../core/segments.ts'
import { isE164 } from '../../core/phone.ts'
import { MESSAGE_ID } from '../../core/ids.ts'
import { DIRECTIONS, MESSAGE_STATUSES } from '../../db/schema/messages.ts'
import {
  endDate,
  numberFilter,
  oneOfFilter,
  pageNumber,
  pageSize,
  startDate,
  textFilter,
} from '../../http/list-query.ts'
import { fails } from '../../http/route.ts'

const phoneNumber = z
  .string(fails('missingSendField'))
  .refine(isE164, fails('badPhoneNumber'))
  .meta({ pattern: '^\\+[1-9]\\d{8,14}$', example: '+15555550100' })

/** Text is kept byte for byte. NUL and lone surrogates cannot be stored or sent like that, so they are refused. */
const isText = (value: string): boolean => !value.includes('\0') && value.isWellFormed()

/** The provider counts UTF-16 units, as JavaScript does. This is one rule, because each rule costs as much as reading the text. */
const isMessageText = (value: string): boolean => value.length > 0 && value.length <= MAX_BODY_UNITS && isText(value)

/** Visible ASCII, which every HTTP client sends unchanged. */
export const IdempotencyKey = z
  .string()
  .min(1)
  .max(MAX_IDEMPOTENCY_KEY_LENGTH)
  .regex(/^[\x21-\x7e]+$/)

export const SendBody = z.object(
  {
    to: phoneNumber,
    from: phoneNumber.meta({ description: 'An SMS-capable number of a connected extension' }),
    body: z
      .string(fails('missingSendField'))
      .refine(isMessageText, fails('badBodyLength'))
      .meta({ description: '1-1600 UTF-16 code units', minLength: 1, maxLength: MAX_BODY_UNITS }),
    userId: z
      .string(fails('badUserId'))
      .max(MAX_USER_ID_LENGTH, fails('badUserId'))
      .refine(isText, fails('badUserId'))
      .nullish()
      .transform((value) => (value === undefined || value === '' ? null : value))
      .meta({ description: "Association with a user in the caller's system" }),
    /** Checked last, by the verb, because the check needs the time. */
    sendAt: z.unknown().optional().meta({
      description: 'When the message is to be sent: a date-time with offset, at most 30 days ahead; the past means now',
      type: 'string',
      format: 'date-time',
      example: '2026-12-24T18:00:00+01:00',
    }),
  },
  fails('missingSendField'),
)
export type SendBody = z.output<typeof SendBody>

export const PreviewBody = z.object(
  {
    body: z
      .string(fails('badBodyLength'))
      .refine(isMessageText, fails('badBodyLength'))
      .meta({ minLength: 1, maxLength: MAX_BODY_UNITS, example: 'Your table is ready 🎉' }),
  },
  fails('badBodyLength'),
)

export const Preview = z
  .object({
    encoding: z.enum(ENCODINGS),
    segments: z.int().meta({ description: 'How many SMS carry the text' }),
    characters: z.int().meta({ description: 'Septets in GSM-7, UTF-16 code units in UCS-2' }),
    nonGsmCharacters: z.array(z.string()).meta({ description: 'Distinct code points that make the text UCS-2' }),
  })
  .meta({ example: { encoding: 'UCS-2', segments: 1, characters: 22, nonGsmCharacters: ['🎉'] } })

export const Accepted = z.object({ messageId: z.string(), status: z.literal('queued') })
export type Accepted = z.infer<typeof Accepted>

export const MessageParams = z.object({ messageId: z.string().regex(MESSAGE_ID, fails('badMessageId')) })

const phoneFilter = numberFilter.pipe(z.string().refine(isE164, fails('badNumberOrContact')).optional())

export const MessagesQuery = z.object({
  appId: textFilter,
  tenantId: textFilter,
  userId: textFilter,
  direction: oneOfFilter(DIRECTIONS, 'badDirection'),
  status: oneOfFilter(MESSAGE_STATUSES, 'badStatus'),
  from: numberFilter,
  to: numberFilter,
  number: phoneFilter.meta({ description: "The tenant's own number, in both directions" }),
  contact: phoneFilter.meta({ description: 'The other number, in both directions' }),
  startDate,
  endDate,
  include: oneOfFilter(['delivery'], 'badInclude').meta({
    description: '`delivery` adds `deliveryStatus`, `sendAt` and `waiting` to outbound messages',
  }),
  page: pageNumber,
  limit: pageSize,
})
export type MessagesQuery = z.output<typeof MessagesQuery>
