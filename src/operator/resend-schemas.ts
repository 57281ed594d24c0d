import { z } from 'zod'
import { dateValue } from '../api/http/list-query.ts'
import { fails } from '../api/http/route.ts'
import { BAD_PARAMETER } from '../api/http/validated.ts'
import { APP_ID, MESSAGE_ID, TENANT_ID } from '../core/ids.ts'
import { MAX_BODY_ENTRIES } from '../core/limits.ts'
import { FAILURE_PATTERN, isFailure } from '../core/message-failure.ts'
import { E164_PATTERN, isE164 } from '../core/phone.ts'

const BAD = { error: BAD_PARAMETER }
const MAX_MINUTES = 10_000_000

export const ResendBody = z
  .object(
    {
      tenantId: z
        .string(fails('badTenantId'))
        .regex(TENANT_ID, fails('badTenantId'))
        .meta({ description: 'The tenant', example: 'tenant_0123456789abcdef' }),
      appId: z
        .string(fails('badAppId'))
        .regex(APP_ID, fails('badAppId'))
        .nullish()
        .meta({ description: 'Only messages of this app', example: 'app_0123456789abcdef' }),
      failure: z.string(BAD).refine(isFailure, BAD).nullish().meta({
        description: 'Only those that failed for this reason, as the list’s filter `failure` names it',
        pattern: FAILURE_PATTERN,
        example: 'unknown_number',
      }),
      failedSince: dateValue('badFailedSince', 'start').nullish(),
      failedUntil: dateValue('badFailedUntil', 'end').nullish(),
      messageIds: z
        .array(
          z
            .string(fails('badMessageId'))
            .regex(MESSAGE_ID, fails('badMessageId'))
            .meta({ example: 'msg_0123456789ab' }),
          fails('badMessageId'),
        )
        .max(MAX_BODY_ENTRIES, fails('badMessageId'))
        .nullish()
        .meta({ description: 'Only these' }),
      from: z.string(BAD).refine(isE164, BAD).nullish().meta({
        description: 'The number to send them from, E.164; by default the one that each had',
        pattern: E164_PATTERN,
        example: '+15555550100',
      }),
      maxAgeMinutes: z
        .int(BAD)
        .min(1, BAD)
        .max(MAX_MINUTES, BAD)
        .nullish()
        .meta({ description: 'Skip messages that were accepted longer ago than this', example: 60 }),
      dryRun: z.boolean(BAD).nullish().meta({ description: 'Only counts' }),
    },
    fails('badTenantId'),
  )
  .meta({
    id: 'ResendMessagesRequest',
    example: { tenantId: 'tenant_0123456789abcdef', failure: 'unknown_number', from: '+15555550100', dryRun: true },
  })
export type ResendBody = z.output<typeof ResendBody>

const counted = (description: string) => z.int().min(0).meta({ description })

export const ResendAnswer = z
  .object({
    resent: counted('New messages; with `dryRun`, as many as there would be'),
    refused: counted(
      'Messages that could not be accepted: the tenant or the app is not active, media is no longer kept, or no connected extension has the number of the message and there is no `from` (unless `failure` is `unknown_number`)',
    ),
    left: z
      .object({
        optedOut: counted('The contact has opted out'),
        tooOld: counted('Older than `maxAgeMinutes`'),
        cancelled: counted('Somebody cancelled them'),
        perhapsDelivered: counted('Unconfirmed: they may have arrived'),
        alreadyResent: counted('Sent again before'),
        notFailed: counted('Of `messageIds`, those that have not failed'),
      })
      .meta({ description: 'What was left out, each message for the first reason that it has' }),
  })
  .meta({
    id: 'ResentMessages',
    example: {
      resent: 38,
      refused: 0,
      left: { optedOut: 3, tooOld: 0, cancelled: 0, perhapsDelivered: 0, alreadyResent: 0, notFailed: 0 },
    },
  })
export type ResendAnswer = z.infer<typeof ResendAnswer>
