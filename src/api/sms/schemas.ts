import { z } from 'zod'
import { messageId } from '../fields/answer-fields.ts'
import {
  MAX_BODY_UNITS,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  MAX_MEDIA_PER_MESSAGE,
  MAX_MEDIA_TEXT_UNITS,
  MAX_NOTIFY_KEY_LENGTH,
  MAX_NOTIFY_RECIPIENTS,
  MAX_TEMPLATE_LENGTH,
  MAX_USER_ID_LENGTH,
} from '../../core/limits.ts'
import { ENCODINGS } from '../../client/segments.ts'
import { E164_PATTERN, isE164 } from '../../core/phone.ts'
import { MESSAGE_ID } from '../../core/ids.ts'
import { textFilter } from '../http/list-query.ts'
import { fails } from '../http/route.ts'
import { parseTemplate } from './template.ts'

/** A text without NUL, as the OpenAPI document says it. */
const NO_NUL = '^[^\\u0000]*$'

const phoneNumber = z
  .string(fails('missingSendField'))
  .refine(isE164, fails('badPhoneNumber'))
  .meta({ pattern: E164_PATTERN })

/** Text is kept byte for byte. NUL and lone surrogates cannot be stored or sent like that, so they are refused. */
const isText = (value: string): boolean => !value.includes('\0') && value.isWellFormed()

/** The provider counts UTF-16 units, as JavaScript does. This is one rule, because each rule costs as much as reading the text. */
export const isMessageText = (value: string): boolean =>
  value.length > 0 && value.length <= MAX_BODY_UNITS && isText(value)

/** Visible ASCII, which every HTTP client sends unchanged. */
export const IdempotencyKey = z
  .string()
  .min(1)
  .max(MAX_IDEMPOTENCY_KEY_LENGTH)
  .regex(/^[\x21-\x7e]+$/)
  .meta({
    description: 'Makes repeating safe: the same key and body get the first answer again, for 24 hours',
    example: 'order-4711',
  })

export const SendBody = z
  .object(
    {
      to: phoneNumber.meta({ description: 'The recipient, E.164', example: '+15555550199' }),
      from: phoneNumber.meta({
        description: 'An SMS-capable number of a connected extension, E.164',
        example: '+15555550100',
      }),
      body: z.string(fails('missingSendField')).refine(isMessageText, fails('badBodyLength')).meta({
        description: '1-1600 UTF-16 code units. With `mediaIds` 0-1000, and it may be absent',
        maxLength: MAX_BODY_UNITS,
        pattern: NO_NUL,
        example: 'Your table is ready',
      }),
      userId: z
        .string(fails('badUserId'))
        .max(MAX_USER_ID_LENGTH, fails('badUserId'))
        .refine(isText, fails('badUserId'))
        .nullish()
        .transform((value) => (value === undefined || value === '' ? null : value))
        .meta({ description: "Association with a user in the caller's system", example: 'user-42' }),
      /** Checked last, by the verb, because the check needs the time. */
      sendAt: z.unknown().optional().meta({
        description:
          'When the message is to be sent: a date-time with offset, at most 30 days ahead; the past means now',
        type: 'string',
        format: 'date-time',
        example: '2026-11-30T18:00:00+01:00',
      }),
      /** With a value the body is a `SendMediaBody`. */
      mediaIds: z
        .unknown()
        .optional()
        .meta({
          description: 'Uploaded files that go out with the text, in this order: together at most 1,500,000 bytes',
          type: 'array',
          items: { type: 'string' },
          minItems: 1,
          maxItems: MAX_MEDIA_PER_MESSAGE,
          uniqueItems: true,
          example: ['media_0123456789ab'],
        }),
    },
    fails('missingSendField'),
  )
  .meta({
    id: 'SendSmsRequest',
    example: { to: '+15555550199', from: '+15555550100', body: 'Your table is ready' },
  })
export type SendBody = z.output<typeof SendBody>

const isDistinct = (ids: readonly string[]): boolean => new Set(ids).size === ids.length

/** A send with media. Its text may be missing. */
export const SendMediaBody = SendBody.extend({
  body: z
    .string(fails('badMediaBody'))
    .max(MAX_MEDIA_TEXT_UNITS, fails('badMediaBody'))
    .refine(isText, fails('badMediaBody'))
    .nullish()
    .transform((text) => text ?? ''),
  mediaIds: z
    .array(z.string(fails('badMediaIds')), fails('badMediaIds'))
    .min(1, fails('badMediaIds'))
    .max(MAX_MEDIA_PER_MESSAGE, fails('badMediaIds'))
    .refine(isDistinct, fails('badMediaIds')),
})

export const PreviewBody = z
  .object(
    {
      body: z
        .string(fails('badBodyLength'))
        .refine(isMessageText, fails('badBodyLength'))
        .meta({ minLength: 1, maxLength: MAX_BODY_UNITS, pattern: NO_NUL, example: 'Your table is ready 🎉' }),
    },
    fails('badBodyLength'),
  )
  .meta({ id: 'PreviewSmsRequest' })

export const Preview = z
  .object({
    encoding: z.enum(ENCODINGS),
    segments: z.int().meta({ description: 'How many SMS carry the text' }),
    characters: z.int().meta({ description: 'Septets in GSM-7, UTF-16 code units in UCS-2' }),
    nonGsmCharacters: z.array(z.string()).meta({ description: 'Distinct code points that make the text UCS-2' }),
  })
  .meta({ id: 'SmsPreview', example: { encoding: 'UCS-2', segments: 1, characters: 22, nonGsmCharacters: ['🎉'] } })

export const Accepted = z.object({ messageId, status: z.literal('queued') }).meta({ id: 'SendSmsResponse' })
export type Accepted = z.infer<typeof Accepted>

/** Shorter, because it is stored with a recipient after it. */
export const NotifyKey = IdempotencyKey.max(MAX_NOTIFY_KEY_LENGTH)

/** In a query, `+` that was not escaped arrives as a space. */
const unescapedPlus = (number: string): string => number.replace(/^ /, '+')
const numberInQuery = z.string().refine(isE164, fails('badPhoneNumber'))
const requiredParameter = z.string(fails('missingSendField')).min(1, fails('missingSendField'))

export const NotifyQuery = z.object({
  from: requiredParameter.transform(unescapedPlus).pipe(numberInQuery).meta({
    description: 'An SMS-capable number of a connected extension, E.164',
    example: '+15555550100',
  }),
  to: requiredParameter
    .transform((list) => [...new Set(list.split(',').map(unescapedPlus))])
    .pipe(z.array(numberInQuery).max(MAX_NOTIFY_RECIPIENTS, fails('badTo')))
    .meta({ description: 'Up to 10 recipients, E.164, separated by commas', example: '+15555550199' }),
  text: textFilter
    .pipe(z.string().max(MAX_TEMPLATE_LENGTH, fails('badText')).optional())
    .transform((text, context) => {
      const template = text === undefined ? undefined : parseTemplate(text)
      if (template === null) context.addIssue({ code: 'custom', message: 'badText' })
      return template ?? undefined
    })
    .meta({
      description:
        'The text, in which `{{path.to.0.value}}` is a value of the body; absent: the first of `text`, `message`, `msg`, `title`, `summary`, `commonAnnotations.summary`, `alerts.0.annotations.summary` that can be read, or the title where another known tool puts it',
      maxLength: MAX_TEMPLATE_LENGTH,
      example: '{{status}}: {{alerts.0.annotations.summary}}',
    }),
})

export const NotifyBody = z.unknown().meta({
  description: 'Any JSON, as the tool posts it',
  example: { status: 'firing', alerts: [{ annotations: { summary: 'The disk of db1 is full' } }] },
})

export const Notified = z
  .object({
    messages: z.array(
      z
        .object({
          messageId,
          to: z.string().meta({ description: 'The recipient', example: '+15555550199' }),
          status: z.literal('queued'),
        })
        .meta({ id: 'NotifiedMessage' }),
    ),
  })
  .meta({ id: 'NotifyResponse' })
export type Notified = z.infer<typeof Notified>

export const MessageParams = z.object({
  messageId: z
    .string()
    .regex(MESSAGE_ID, fails('badMessageId'))
    .meta({ description: 'The message', example: 'msg_0123456789ab' }),
})
