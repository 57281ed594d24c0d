import { z } from 'zod'
import { tenantId, time } from '../api/fields/answer-fields.ts'
import type { Gateway } from '../messages/gateway.ts'
import { isoTime } from '../core/clock.ts'
import { VERSION } from '../core/version.ts'
import { JWT_PROBLEMS } from '../provider/configured-jwt.ts'
import { textOf } from './conditions/condition.ts'
import { saidOfJwt } from './conditions/jwt-refused.ts'
import { findStorageFault } from './conditions/storage-failing.ts'
import { TenantStatus } from '../api/fields/named-enums.ts'
import { describeBlocked } from './blocked-addresses.ts'
import { readBackup } from './backup/read-backup.ts'
import { readDatabase } from '../messages/gateway-state/database.ts'
import { countExtensions } from '../messages/gateway-state/extensions.ts'
import { readOldestMessage, readQueue } from '../messages/gateway-state/queue.ts'
import { readFailures } from '../messages/usage/failures.ts'
import { readUnposted } from '../messages/webhooks/unposted.ts'

export const StatusReport = z
  .object({
    running: z.boolean().meta({ description: 'Whether a server runs, or a command only reads its database' }),
    version: z.string(),
    schema: z.string().meta({ description: 'The newest migration that the database has' }),
    queue: z.record(z.string(), z.union([z.number(), z.string(), z.null()])).meta({
      description: 'Jobs by kind, `openAttempts` and `oldestQueuedAt`; `scheduledUntil`, if any message is scheduled',
    }),
    extensions: z.record(z.string(), z.int()).meta({ description: 'Connected extensions by status' }),
    subscriptions: z.object({ active: z.int(), pending: z.int(), earliestExpiry: time.nullable() }),
    jwts: z.int().meta({ description: 'How many extensions a JWT keeps; without those that are revoked' }),
    earliestJwtEnd: time
      .nullable()
      .meta({ description: 'When the first JWT of an extension ends; null if none has an end' }),
    backup: z.object({
      litestream: z.boolean(),
      lagMs: z.number().nullable().meta({
        description:
          'How many milliseconds the backup may be behind; null without Litestream, or if it does not answer',
      }),
      walBytes: z
        .int()
        .meta({ description: 'Size of the write-ahead log in bytes; it grows if Litestream does not copy it' }),
      keptBytes: z.int().meta({
        description: "Size in bytes of Litestream's files beside the database; it grows if Litestream cannot upload",
      }),
      restoredAt: time.nullable(),
      quarantined: z.int().meta({ description: 'Messages that are looked up before they are sent, after a restore' }),
    }),
    storage: z
      .string()
      .nullable()
      .meta({ description: 'Why nothing can be stored, and what to do; null if all is well' }),
    ha: z
      .object({
        role: z.enum(['active']),
        epoch: z.int().meta({ description: 'Each holder of the lease has a higher one' }),
        holder: z.string().meta({ description: 'Host and port of this gateway' }),
        leaseAgeMs: z.number().meta({ description: 'Milliseconds since the last renewal; renewed each second' }),
        storedLagMs: z.number().nullable().meta({
          description:
            'How many milliseconds the copy in the storage may be behind; null if Litestream does not answer',
        }),
      })
      .nullable()
      .meta({ description: 'Null without `STANDBY`' }),
    failed: z
      .array(
        z.object({
          tenantId,
          count: z.int(),
          since: time.meta({ description: 'The start of the half hour in which the first one failed' }),
          lastAt: time,
          errors: z.array(z.object({ error: z.string(), count: z.int() })),
          tenantStatus: TenantStatus,
          canResend: z.boolean().meta({
            description:
              'Whether `sgw messages resend` would send any of them: the tenant is active, and one failed that was not sent again',
          }),
        }),
      )
      .meta({
        description:
          'Messages that failed in the last 24 hours, by tenant, most first; without cancelled ones and those whose recipient opted out',
      }),
    waitingJwt: z.string().nullable().meta({ description: 'Why `RC_JWT` waits, and until when; null if it does not' }),
    unconnectedJwt: z
      .object({ kind: z.enum(JWT_PROBLEMS), text: z.string() })
      .nullable()
      .meta({
        description: 'Why `RC_JWT` has connected no extension, and what to do; null if nothing is wrong with it',
      }),
    blocked: z.string().nullable().meta({
      description: 'Which addresses are blocked after ten wrong keys, until when, and what to do; null if none is',
    }),
    interruptedWebhooks: z
      .object({
        count: z.int(),
        since: time.meta({ description: 'When the first of them was under way: the `since` of a recovery' }),
      })
      .nullable()
      .meta({
        description:
          'Webhooks that were under way at a crash or a takeover of the last 24 hours and that no retry policy posts again; each may have arrived. Null if there are none',
      }),
  })
  .meta({ id: 'GatewayStatus' })
export type StatusReport = z.infer<typeof StatusReport>

/** Reads the figures of `sgw status`. */
export async function readStatus(gateway: Gateway): Promise<StatusReport> {
  const { jobs, openAttempts, scheduledUntil, quarantined } = await readQueue(gateway)
  const { extensions, subscriptions, jwts, earliestJwtEnd } = await countExtensions(gateway)
  const { schema, restoredAt } = await readDatabase(gateway)
  const { lagMs, walBytes, keptBytes } = await readBackup(gateway)
  const unposted = await readUnposted(gateway)
  return {
    running: gateway.lifecycle.working,
    version: VERSION,
    schema,
    queue: {
      send: 0,
      lookup: 0,
      ...Object.fromEntries(Object.entries(jobs).filter(([, count]) => count > 0)),
      openAttempts,
      ...(scheduledUntil === null ? {} : { scheduledUntil: isoTime(scheduledUntil) }),
      oldestQueuedAt: isoOrNull((await readOldestMessage(gateway))?.since),
    },
    extensions,
    subscriptions: { ...subscriptions, earliestExpiry: isoOrNull(subscriptions.earliestExpiry) },
    jwts,
    earliestJwtEnd: isoOrNull(earliestJwtEnd),
    backup: {
      litestream: gateway.config.litestream,
      lagMs,
      walBytes,
      keptBytes,
      restoredAt: isoOrNull(restoredAt),
      quarantined,
    },
    storage: (await findStorageFault(gateway)).map(textOf)[0] ?? null,
    ha: haOf(gateway, lagMs),
    failed: await failedOf(gateway),
    ...jwtOf(gateway),
    blocked: await describeBlocked(gateway),
    interruptedWebhooks: unposted && { count: unposted.count, since: isoTime(unposted.since) },
  }
}

async function failedOf(gateway: Gateway): Promise<StatusReport['failed']> {
  const failed = await readFailures(gateway, gateway.clock.now())
  return failed.map(({ since, lastAt, ...failures }) => ({
    ...failures,
    since: isoTime(since),
    lastAt: isoTime(lastAt),
  }))
}

function jwtOf({ configuredJwt: { state } }: Gateway): Pick<StatusReport, 'waitingJwt' | 'unconnectedJwt'> {
  if (!('fix' in state)) return { waitingJwt: null, unconnectedJwt: null }
  const { kind } = state
  const text = textOf(saidOfJwt(state))
  return { waitingJwt: kind === 'waits' ? text : null, unconnectedJwt: { kind, text } }
}

function haOf({ lease }: Gateway, storedLagMs: number | null): StatusReport['ha'] {
  if (lease === null) return null
  const { epoch, holder } = lease
  return { role: 'active', epoch, holder, leaseAgeMs: Math.round(lease.ageMs()), storedLagMs }
}

const isoOrNull = (at: number | null | undefined): string | null =>
  at === null || at === undefined ? null : isoTime(at)
