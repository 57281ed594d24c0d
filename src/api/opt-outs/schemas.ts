import { z } from 'zod'
import { contactNumber, ownNumber, pageFields, time } from '../fields/answer-fields.ts'
import { OptOutSource } from '../fields/named-enums.ts'
import { E164_PATTERN, isE164 } from '../../core/phone.ts'
import { OPT_OUT_POLICIES } from '../../db/schema/tenants.ts'
import { contactFilter, oneOfFilter, ownNumberFilter, pageNumber, pageSize } from '../http/list-query.ts'
import { fails } from '../http/route.ts'

export const OptOutsQuery = z.object({
  number: ownNumberFilter,
  contact: contactFilter,
  include: oneOfFilter(z.enum(['policy'])).meta({
    example: 'policy',
    description: "`policy` adds the tenant's policy for messages to them",
  }),
  page: pageNumber,
  limit: pageSize,
})
export type OptOutsQuery = z.output<typeof OptOutsQuery>

const OptOut = z
  .object({
    number: ownNumber.meta({ description: "The tenant's own number" }),
    contact: contactNumber,
    source: OptOutSource,
    since: time,
  })
  .meta({ id: 'OptOut' })
export type OptOut = z.infer<typeof OptOut>

const OptOutPolicy = z.enum(OPT_OUT_POLICIES, fails('badPolicy')).meta({
  id: 'OptOutPolicy',
  description: 'Whether a message to a contact that has opted out is sent (`observe`) or fails (`block`)',
})

const withPolicy = OptOutPolicy.optional().meta({ description: 'With `include=policy`' })

export const OptOutList = z.object({ optOuts: z.array(OptOut), policy: withPolicy, ...pageFields }).meta({
  id: 'OptOutList',
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
  .meta({ description: 'E.164', pattern: E164_PATTERN })

export const OptOutBody = z
  .object({ number: phoneNumber, contact: phoneNumber, optedOut: z.boolean(fails('badOptedOut')) }, fails('badJson'))
  .meta({ id: 'SetOptOutRequest', example: { number: '+15555550100', contact: '+15555550199', optedOut: true } })
export type OptOutBody = z.output<typeof OptOutBody>

export const Policy = z
  .object(
    {
      policy: OptOutPolicy,
    },
    fails('badJson'),
  )
  .meta({ id: 'OptOutPolicySetting', example: { policy: 'block' } })
export type Policy = z.output<typeof Policy>
