import { z } from 'zod'
import { tenantId, time } from '../fields/answer-fields.ts'
import { COUNT_OPEN_ATTEMPTS, COUNT_QUARANTINED } from '../db/open-attempts.ts'
import { storageProblem } from '../db/storage-check.ts'
import type { Gateway } from '../gateway.ts'
import { isoTime } from '../core/clock.ts'
import { VERSION } from '../version.ts'
import { readBackupLag } from '../backup/lag.ts'
import { readFailures } from '../usage/failures.ts'

export const StatusReport = z
  .object({
    running: z.boolean().meta({ description: 'Whether a server runs, or a command only reads its database' }),
    version: z.string(),
    schema: z.string().meta({ description: 'The newest migration that the database has' }),
    queue: z
      .record(z.string(), z.union([z.number(), z.string(), z.null()]))
      .meta({ description: 'Jobs by kind, `openAttempts` and `oldestQueuedAt`' }),
    extensions: z.record(z.string(), z.int()).meta({ description: 'Connected extensions by status' }),
    subscriptions: z.object({ active: z.int(), pending: z.int(), earliestExpiry: time.nullable() }),
    backup: z.object({
      litestream: z.boolean(),
      lagMs: z.number().nullable().meta({
        description: 'How far the backup may be behind; null without Litestream, or if it does not answer',
      }),
      walBytes: z.int(),
      keptBytes: z.int(),
      restoredAt: time.nullable(),
      quarantined: z.int().meta({ description: 'Messages that are looked up before they are sent, after a restore' }),
    }),
    storage: z
      .string()
      .nullable()
      .meta({ description: 'Why nothing can be stored, and what to do; null if all is well' }),
    failed: z
      .array(
        z.object({
          tenantId,
          count: z.int(),
          since: time.meta({ description: 'The start of the half hour in which the first one failed' }),
          lastAt: time,
          errors: z.array(z.object({ error: z.string(), count: z.int() })),
        }),
      )
      .meta({
        description:
          'Messages that failed in the last 24 hours, by tenant, the most first; without those that were cancelled or whose recipient has opted out',
      }),
  })
  .meta({ id: 'GatewayStatus' })
export type StatusReport = z.infer<typeof StatusReport>

/** Reads the figures of `sgw status`. */
export async function readStatus(gateway: Gateway): Promise<StatusReport> {
  const { gate, reader } = gateway.database
  const jobs = await reader.longRead('operator', COUNT_JOBS, [])
  const [schema, sending, extensions, subscriptions, restored, quarantined] = await gate.batch([
    'SELECT name FROM schema_migrations ORDER BY position DESC LIMIT 1',
    COUNT_OPEN_ATTEMPTS,
    'SELECT status, count(*) AS extensions FROM extensions GROUP BY status',
    'SELECT status, count(*) AS subscriptions, min(expires_at) AS earliest FROM subscriptions GROUP BY status',
    `SELECT value FROM facts WHERE name = 'restored_at'`,
    COUNT_QUARANTINED,
  ])
  const counted = (status: string): number =>
    Number(subscriptions?.rows.find((row) => row['status'] === status)?.['subscriptions'] ?? 0)
  const expiry = subscriptions?.rows.find((row) => row['status'] === 'active')?.['earliest']
  const restoredAt = restored?.rows[0]?.['value']
  const oldest = jobs.find((row) => row['kind'] === 'send')?.['oldest']
  return {
    running: gateway.lifecycle.working,
    version: VERSION,
    schema: String(schema?.rows[0]?.['name']),
    queue: {
      send: 0,
      lookup: 0,
      ...Object.fromEntries(jobs.map((row) => [String(row['kind']), Number(row['jobs'])])),
      openAttempts: Number(sending?.rows[0]?.['count'] ?? 0),
      oldestQueuedAt: typeof oldest === 'number' ? isoTime(oldest) : null,
    },
    extensions: {
      active: 0,
      refresh_failed: 0,
      revoked: 0,
      ...Object.fromEntries((extensions?.rows ?? []).map((row) => [String(row['status']), Number(row['extensions'])])),
    },
    subscriptions: {
      active: counted('active'),
      pending: counted('pending'),
      earliestExpiry: typeof expiry === 'number' ? isoTime(expiry) : null,
    },
    backup: {
      litestream: gateway.config.litestream,
      ...(await readLag(gateway)),
      restoredAt: restoredAt === undefined ? null : isoTime(Number(restoredAt)),
      quarantined: Number(quarantined?.rows[0]?.['count'] ?? 0),
    },
    storage: await storageProblem(gateway),
    failed: (await readFailures(gateway, gateway.clock.now())).map(({ since, lastAt, ...failures }) => ({
      ...failures,
      since: isoTime(since),
      lastAt: isoTime(lastAt),
    })),
  }
}

const COUNT_JOBS = 'SELECT kind, count(*) AS jobs, min(created_at) AS oldest FROM jobs GROUP BY kind'

async function readLag({ config }: Gateway): Promise<Pick<StatusReport['backup'], 'lagMs' | 'walBytes' | 'keptBytes'>> {
  const { lagMs, walBytes, keptBytes } = await readBackupLag(config.database.path)
  return { lagMs, walBytes, keptBytes }
}
