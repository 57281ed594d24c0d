import { z } from 'zod'
import { numberFilter, since, sizeUpTo } from '../api/http/list-query.ts'
import { fails } from '../api/http/route.ts'
import { PreviewBody } from '../api/sms/schemas.ts'
import { parseDuration } from '../core/duration.ts'
import { isE164 } from '../core/phone.ts'
import { PROVIDER_CHANGES } from '../core/provider-changes.ts'
import { NEXT_FAULTS, SITUATIONS } from '../core/simulator-access.ts'

export const InboundBody = z.object(
  {
    from: z.string(fails('badPhoneNumber')).refine(isE164, fails('badPhoneNumber')),
    to: z.string(fails('badPhoneNumber')).refine(isE164, fails('badPhoneNumber')),
    /** Only an MMS may be without one. */
    text: PreviewBody.shape.body.or(z.literal('')),
    attachments: z
      .array(z.object({ contentType: z.string(), fileName: z.string(), data: z.string() }), fails('badAttachments'))
      .max(10, fails('badAttachments'))
      .default([]),
  },
  fails('badPhoneNumber'),
)
export const FaultBody = z.object({ fault: z.enum(NEXT_FAULTS, fails('badFault')).nullable() }, fails('badFault'))
export const SituationBody = z.object(
  {
    situation: z.enum(SITUATIONS, fails('badSituation')),
    times: z.int(fails('badTimes')).min(1, fails('badTimes')).max(1000, fails('badTimes')).default(1),
    code: z.string(fails('badSituation')).max(40, fails('badSituation')).default('SMS-CAR-411'),
  },
  fails('badSituation'),
)
export const ChangeBody = z.object(
  {
    name: z.enum(PROVIDER_CHANGES, fails('badChange')),
    argument: z.record(z.string(), z.unknown(), fails('badChange')),
  },
  fails('badChange'),
)
export const AdvanceBody = z.object(
  {
    duration: z.string(fails('badDuration')).transform((text, context) => {
      const ms = parseDuration(text)
      if (ms !== null) return ms
      context.addIssue({ code: 'custom', message: 'badDuration' })
      return z.NEVER
    }),
  },
  fails('badDuration'),
)
export const CallsQuery = z.object({
  from: numberFilter,
  to: numberFilter,
  since,
  limit: sizeUpTo(500, 500),
})
