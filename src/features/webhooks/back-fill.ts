import type { Gateway } from '../../gateway.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../../jobs/job.ts'
import type { StoredSms } from '../../provider/provider.ts'
import { storeInbound } from './store-inbound.ts'

/** Windows overlap, for clocks that differ and records that are listed late; what is known already is not stored again. */
const OVERLAP_MS = 5 * 60_000
/** How far back the provider is asked at most: it keeps a month and more, a gateway that slept longer has other worries. */
const MAX_AGE_MS = 30 * 86_400_000

/** The `back_fill` job: written when an extension is connected, so that nothing is missed before its first event. */
export const backFillJobs = (gateway: Gateway): JobKind<string> => ({
  name: 'back_fill',
  maxInFlight: 4,
  maxPerLane: 1,
  load: (ids) => Promise.resolve(new Map(ids.map((id) => [id, id]))),
  run: (job) => runBackFill(gateway, job),
})

const TRY_AGAIN_MS = 30_000

async function runBackFill(gateway: Gateway, job: Job): Promise<JobOutcome> {
  const extension = await gateway.directory.extension(job.tenantId, job.subject)
  const usable = extension !== null && extension.status !== 'revoked'
  if (usable && (await backFill(gateway, extension)) === null) return { type: 'snooze', delayMs: TRY_AGAIN_MS }
  await gateway.database.writer.write([{ sql: 'DELETE FROM jobs WHERE seq = ?1', args: [job.seq] }])
  return DONE
}

/**
 * Asks the provider's store for inbound messages since the last look that succeeded, and takes each one in as if its
 * event had come. Answers how many were missing, null when the
 * store could not be asked.
 */
export async function backFill(gateway: Gateway, extension: ExtensionRow): Promise<number | null> {
  const startedAt = gateway.clock.now()
  const since = sinceOf(extension, startedAt)
  const listed = await gateway.session.call(extension, 'light', (token) =>
    gateway.provider.listMessages(token, { direction: 'Inbound', since }),
  )
  if (listed.type !== 'ok') return null
  let missing = 0
  for (const record of listed.value) if (await takeIn(gateway, extension, record)) missing++
  await noteSeen(gateway, extension, startedAt)
  if (missing > 0)
    gateway.log.info(
      { tenantId: extension.tenantId, extensionId: extension.extensionId, missing },
      'inbound messages were filled in',
    )
  return missing
}

/** Nothing of before the first connection is taken in. */
function sinceOf(extension: ExtensionRow, now: number): number {
  const { inboundSeenAt, connectedAt } = extension
  return Math.max(inboundSeenAt === null ? connectedAt : Math.min(inboundSeenAt, now) - OVERLAP_MS, now - MAX_AGE_MS)
}

async function takeIn(gateway: Gateway, extension: ExtensionRow, record: StoredSms): Promise<boolean> {
  const target = record.to.find((recipient) => recipient.target) ?? record.to[0]
  return storeInbound(gateway, {
    tenantId: extension.tenantId,
    extensionId: extension.extensionId,
    providerMessageId: record.providerMessageId,
    from: record.from ?? 'anonymous',
    to: target?.phoneNumber ?? 'unknown',
    text: record.text,
  })
}

async function noteSeen(gateway: Gateway, extension: ExtensionRow, at: number): Promise<void> {
  const sql =
    'UPDATE extensions SET inbound_seen_at = ?3 WHERE tenant_id = ?1 AND extension_id = ?2 AND connected_at = ?4'
  await gateway.database.writer.write([
    { sql, args: [extension.tenantId, extension.extensionId, at, extension.connectedAt] },
  ])
  gateway.directory.forget(extension.tenantId)
}
