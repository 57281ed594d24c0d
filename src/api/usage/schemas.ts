import { z } from 'zod'
import { appId } from '../fields/answer-fields.ts'
import { endDate, startDate, appIdFilter } from '../http/list-query.ts'

export const UsageQuery = z.object({ startDate, endDate, appId: appIdFilter })
export type UsageQuery = z.output<typeof UsageQuery>

export const UsageDay = z
  .object({
    date: z.string().meta({ format: 'date' }),
    appId,
    sent: z.int(),
    failed: z.int(),
    received: z.int(),
    segments: z.int().meta({ description: 'Of the sent messages; one with media counts as one' }),
    media: z.int().optional().meta({ description: 'How many of the sent messages carried media' }),
  })
  .meta({
    id: 'UsageDay',
    example: {
      date: '2026-11-21',
      appId: 'app_1f0c2b5d9e8a7643',
      sent: 120,
      failed: 2,
      received: 31,
      segments: 148,
      media: 3,
    },
  })
export type UsageDay = z.infer<typeof UsageDay>

export const Usage = z.object({ days: z.array(UsageDay) }).meta({ id: 'Usage' })
