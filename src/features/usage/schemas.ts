import { z } from 'zod'
import { endDate, startDate, textFilter } from '../../http/list-query.ts'

export const UsageQuery = z.object({ startDate, endDate, appId: textFilter })
export type UsageQuery = z.output<typeof UsageQuery>

export const UsageDay = z
  .object({
    date: z.string().meta({ format: 'date' }),
    appId: z.string(),
    sent: z.int(),
    failed: z.int(),
    received: z.int(),
    segments: z.int().meta({ description: 'Of the sent messages' }),
  })
  .meta({
    example: { date: '2026-11-21', appId: 'app_1f0c2b5d9e8a7643', sent: 120, failed: 2, received: 31, segments: 148 },
  })
export type UsageDay = z.infer<typeof UsageDay>
