import { z } from 'zod'
import { appId, time, triggerId } from '../fields/answer-fields.ts'
import { DestinationKind, DeliveryOutcome } from '../fields/named-enums.ts'
import { MAX_LISTED, MAX_OVERVIEW_HOURS, MIN_OVERVIEW_HOURS } from '../../core/limits.ts'
import { oneOfFilter, sizeUpTo } from '../http/list-query.ts'
import { WAITING_REASONS } from '../../core/waiting-reasons.ts'

export const OverviewQuery = z.object({
  hours: sizeUpTo(MAX_OVERVIEW_HOURS, MIN_OVERVIEW_HOURS, MIN_OVERVIEW_HOURS),
  include: oneOfFilter(z.enum(['nextAttempt'])).meta({
    example: 'nextAttempt',
    description: '`nextAttempt` adds `nextAttemptAt` to destinations that fail',
  }),
})
export type OverviewQuery = z.output<typeof OverviewQuery>

const Totals = z
  .object({
    accepted: z.int(),
    sent: z.int(),
    failed: z.int(),
    cancelled: z.int().meta({ description: 'Part of failed' }),
    received: z.int(),
    delivered: z.int(),
    undelivered: z.int(),
  })
  .meta({ id: 'MessageTotals' })

const totals = { accepted: 120, sent: 117, failed: 2, cancelled: 2, received: 31, delivered: 110, undelivered: 3 }

export const Overview = z
  .object({
    from: time,
    to: time,
    totals: Totals,
    previous: Totals.meta({ description: 'The totals of the range before, of the same length' }),
    buckets: z.array(z.object({ at: time, sent: z.int(), failed: z.int(), received: z.int() })),
    p50Ms: z.number().nullable().meta({ description: 'Milliseconds from queued to sent, of unscheduled messages' }),
    p95Ms: z.number().nullable().meta({ description: 'Milliseconds from queued to sent, of unscheduled messages' }),
    queued: z.int(),
    scheduled: z.int(),
    oldestQueuedAt: time.nullable(),
    waiting: z.array(
      z.object({
        reason: z.enum(WAITING_REASONS),
        extensionId: z.string().optional(),
        until: time.optional(),
        count: z.int(),
        since: time.meta({ description: 'When the oldest of them was accepted' }),
        began: time.nullable().meta({
          description: 'When the pause or outage began; null if there is none, or if it began before the last start',
        }),
      }),
    ),
    errors: z.array(
      z.object({
        error: z.string(),
        failure: z.string().meta({ description: 'The value of the filter `failure` that lists such messages' }),
        count: z.int(),
        lastAt: time,
      }),
    ),
    destinations: z
      .array(
        z.object({
          url: z.string(),
          kind: DestinationKind,
          appId: appId.optional(),
          triggerId: triggerId.optional(),
          success: z.int(),
          failed: z.int(),
          p95Ms: z.number().nullable().meta({ description: 'Milliseconds of an attempt; at most 9 % off' }),
          failingSince: time.nullable().meta({
            description: 'The first failure since the last success; also null once nothing is posted there anymore',
          }),
          failures: z.int().meta({ description: 'Failed attempts since `failingSince`' }),
          nextAttemptAt: time.optional().meta({
            description:
              'With `include=nextAttempt`: when the next retry of what failed is due; left out if none is planned, or nothing fails',
          }),
          lastOutcome: DeliveryOutcome.nullable().meta({
            description: 'Of the latest attempt; null if that was more than 30 days before the upgrade',
          }),
          lastStatusCode: z.int().optional(),
          neverArrived: z.int().meta({
            description:
              'Deliveries of the last 30 days whose latest attempt failed, until they are delivered again or dismissed; regardless of the range',
          }),
          neverArrivedSince: time.nullable().meta({ description: 'When the earliest of these attempts began' }),
        }),
      )
      .meta({
        description: `Up to ${MAX_LISTED} that were used most recently in the range, and all with deliveries that never arrived`,
      }),
  })
  .meta({
    id: 'Overview',
    example: {
      from: '2026-11-20T03:00:00.000Z',
      to: '2026-11-21T02:41:07.512Z',
      totals,
      previous: totals,
      buckets: [{ at: '2026-11-20T03:00:00.000Z', sent: 4, failed: 0, received: 1 }],
      p50Ms: 256,
      p95Ms: 861,
      queued: 1,
      scheduled: 1,
      oldestQueuedAt: null,
      waiting: [{ reason: 'scheduled', count: 1, since: '2026-11-20T16:55:40.218Z', began: null }],
      errors: [
        { error: 'Cancelled before sending', failure: 'cancelled', count: 2, lastAt: '2026-11-20T17:02:11.004Z' },
      ],
      destinations: [
        {
          url: 'https://example.com/sms',
          kind: 'app',
          appId: 'app_1f0c2b5d9e8a7643',
          success: 31,
          failed: 0,
          p95Ms: 152,
          failingSince: null,
          failures: 0,
          lastOutcome: 'success',
          lastStatusCode: 200,
          neverArrived: 0,
          neverArrivedSince: null,
        },
      ],
    },
  })
export type Overview = z.infer<typeof Overview>
