import { type SQL, sql } from 'drizzle-orm'
import { DAY_MS } from '../core/limits.ts'
import type { InboundSource } from '../db/schema/connections.ts'
import type { Orm } from '../db/orm.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { SmsNumber } from './listed-numbers.ts'

/** A number, and which of the provider's stores has its inbound texts; null if that could not be read now. */
export type SourcedNumber = SmsNumber & { source: InboundSource | null }

/** When numbers were read. */
interface ReadAt {
  now: number
  /** The current time by the provider's clock, to the second. */
  providerNow: number
  /** The job that a change of source creates, and when it is due, steady time. */
  jobId: string
  dueAt: number
}

/**
 * Replaces the stored numbers of an extension with those that the provider lists now. What is known about a number's owner stays while the
 * extension lists the number: a list may name no owner, or only the extension itself. If the source of a number has changed, its messages
 * since the last reading may be in either source, so the back-fill begins there.
 */
export function replaceNumbers(orm: Orm, key: ExtensionKey, numbers: readonly SourcedNumber[], at: ReadAt) {
  const { tenantId, extensionId } = key
  const json = JSON.stringify(numbers)
  const numbersOf = sql`SELECT 1 FROM phone_numbers WHERE tenant_id = ${tenantId} AND extension_id = ${extensionId}`
  const hasChanged = sql`EXISTS (${numbersOf} AND source_changed_at = ${at.providerNow})`
  const hasThreads = sql`EXISTS (${numbersOf} AND inbound_source = 'threads')`
  return orm.batch([
    orm.run(
      sql`DELETE FROM phone_numbers WHERE tenant_id = ${tenantId} AND extension_id = ${extensionId} AND number NOT IN (SELECT value ->> 'number' FROM json_each(${json}))`,
    ),
    orm.run(sql`INSERT INTO phone_numbers (tenant_id, number, extension_id, usage_type, sends_media, owner_id, inbound_source)
      SELECT ${tenantId}, value ->> 'number', ${extensionId}, value ->> 'usageType', value ->> 'sendsMedia', value ->> 'ownerId', value ->> 'source'
      FROM json_each(${json})
      WHERE EXISTS (SELECT 1 FROM extensions WHERE tenant_id = ${tenantId} AND extension_id = ${extensionId})
      ON CONFLICT (tenant_id, number, extension_id) DO UPDATE SET usage_type = excluded.usage_type, sends_media = excluded.sends_media,
        owner_id = CASE WHEN coalesce(excluded.owner_id, excluded.extension_id) = excluded.extension_id
          THEN coalesce(phone_numbers.owner_id, excluded.owner_id) ELSE excluded.owner_id END,
        inbound_source = coalesce(excluded.inbound_source, phone_numbers.inbound_source),
        source_changed_at = CASE WHEN excluded.inbound_source <> coalesce(phone_numbers.inbound_source, 'store')
          THEN ${at.providerNow} ELSE phone_numbers.source_changed_at END`),
    orm.run(
      sql`UPDATE extensions SET ${readPositions(hasThreads, hasChanged)}, numbers_read_at = ${readAt(numbers, at.now)} WHERE tenant_id = ${tenantId} AND extension_id = ${extensionId}`,
    ),
    orm.run(sql`INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
      SELECT ${at.jobId}, 'back_fill', ${extensionId}, ${tenantId}, ${extensionId}, ${at.dueAt}, ${at.now} WHERE ${hasChanged}`),
  ])
}

/** What could not be read now is read again soon, with the next round of day-old numbers. */
const readAt = (numbers: readonly SourcedNumber[], now: number) =>
  numbers.length === 0
    ? sql`NULL`
    : numbers.some(({ source }) => source === null)
      ? sql`min(coalesce(numbers_read_at, ${now - DAY_MS}), ${now - DAY_MS})`
      : sql`${now}`

const LAST_READ = sql`coalesce(numbers_read_at, connected_at)`

const readPositions = (hasThreads: SQL, hasChanged: SQL): SQL => sql`
  inbound_seen_at = CASE WHEN ${hasChanged} THEN min(inbound_seen_at, ${LAST_READ}, coalesce(threads_seen_at, inbound_seen_at)) ELSE inbound_seen_at END,
  threads_seen_at = CASE WHEN NOT ${hasThreads} THEN NULL
    WHEN ${hasChanged} THEN min(coalesce(threads_seen_at, ${LAST_READ}), ${LAST_READ}) ELSE coalesce(threads_seen_at, ${LAST_READ}) END,
  threads_token = CASE WHEN ${hasChanged} THEN NULL ELSE threads_token END`
