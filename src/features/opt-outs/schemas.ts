import { z } from 'zod'
import { isE164 } from '../../core/phone.ts'
import { OPT_OUT_SOURCES } from '../../db/schema/opt-outs.ts'
import { OPT_OUT_POLICIES } from '../../db/schema/tenants.ts'
import { numberFilter, pageNumber, pageSize } from '../../http/list-query.ts'
import { fails } from '../../http/route.ts'

export const OptOutsQuery = z.object({
  number: numberFilter,
  contact: numberFilter,
  page: pageNumber,
  limit: pageSize,
})
export type OptOutsQuery = z.output<typeof OptOutsQuery>

const OptOut = z.object({
  number: z.string().meta({ description: "The tenant's own number" }),
  contact: z.string(),
  source: z
    .enum(OPT_OUT_SOURCES)
    .meta({ description: 'A keyword of the contact, a delivery code of the provider, or `PUT /v1/opt-outs`' }),
  since: z.string().meta({ format: 'date-time' }),
})
export type OptOut = z.infer<typeof OptOut>

export const OptOutList = z.object({ optOuts: z.array(OptOut), total: z.int(), page: z.int(), limit: z.int() }).meta({
  example: {
    optOuts: [
      { number: '+15555550100', contact: '+15555550199', source: 'keyword', since: '2026-11-21T02:30:00.000Z' },
    ],
    total: 1,
    page: 1,
    limit: 20,
  },
})
export type OptOutList = z.infer<typeof OptOutList>

const phoneNumber = z
  .string(fails('badNumberOrContact'))
  .refine(isE164, fails('badNumberOrContact'))
  .meta({ description: 'E.164' })

export const OptOutBody = z
  .object({ number: phoneNumber, contact: phoneNumber, optedOut: z.boolean(fails('badOptedOut')) }, fails('badJson'))
  .meta({ example: { number: '+15555550100', contact: '+15555550199', optedOut: true } })
export type OptOutBody = z.output<typeof OptOutBody>

export const Policy = z
  .object({ policy: z.enum(OPT_OUT_POLICIES, fails('badPolicy')) }, fails('badJson'))
  .meta({ example: { policy: 'block' } })
export type Policy = z.output<typeof Policy>
