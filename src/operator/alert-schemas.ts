import { z } from 'zod'
import { parseDateTime } from '../core/date-time.ts'
import { fails } from '../api/http/route.ts'
import { OVER } from './alerts/mutes.ts'

/** An unknown subject or alert gets a 404. */
const subject = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'string' ? value : ''))
  .meta({
    type: 'string',
    description: 'The `subject` of the alert: the id of the affected thing, or `gateway`',
    example: 'gateway',
  })

export const AlertParams = z.object({
  alert: z.string().meta({ description: 'The name of the alert', example: 'webhook_failing' }),
})
export const MutedQuery = z.object({ subject })

/** Epoch milliseconds; null: until the alert is over. */
const until = z
  .string(fails('badUntil'))
  .transform((text, context) => {
    if (text === OVER) return null
    const at = parseDateTime(text)
    if (at === null) context.addIssue({ code: 'custom', message: 'badUntil' })
    return at
  })
  .meta({
    description: `Until when: a date-time with offset, at most 30 days ahead, or \`${OVER}\` for until the alert is over`,
    example: OVER,
  })

export const MuteBody = z.object({ subject, until }, fails('badUntil')).meta({ id: 'MuteAlertRequest' })
