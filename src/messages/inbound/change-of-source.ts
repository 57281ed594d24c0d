import { counts, isFromBefore, numbersOf } from '../../provider/inbound-source.ts'
import type { ExtensionRow, TenantEntry } from '../../provider/directory.ts'
import type { StoredSms } from '../../provider/provider.ts'
import type { Gateway } from '../gateway.ts'
import { listThreads } from './fill-threads.ts'
import { knownInbound } from './known-inbound.ts'
import { inE164 } from './store-inbound.ts'
import { inboundOf } from './inbound-sms.ts'

// A number has one source. Only around a change can both sources have its messages; then the same text at the same time is one message.

/** How far apart the times of such twins are. */
const TWIN_MS = 10_000

interface Sms {
  record: Pick<StoredSms, 'providerMessageId' | 'createdAt'>
  /** Numbers and text, which are the same for twins. */
  content: string
  to: string
}

interface ListedSms extends Sms {
  record: StoredSms
}

/**
 * The messages of a period that count: from the store, and from threads before a change of a number's source. Null if the period's threads
 * cannot be read now. The provider's lists are complete by then, so they are enough to find twins.
 */
export async function withoutTwins(
  gateway: Gateway,
  extension: ExtensionRow,
  { since, until }: { since: number; until: number },
  listed: readonly StoredSms[],
): Promise<StoredSms[] | null> {
  const tenant = await gateway.directory.tenant(extension.tenantId)
  const stored = await ofStore(gateway, extension, listed)
  const spansChange = numbersOf(tenant, extension).some((row) => isFromBefore(row, since))
  if (!spansChange) return stored.map(({ record }) => record)
  const time = { since: since - TWIN_MS, until: until + TWIN_MS }
  const threads = await earlyThreads(gateway, extension, tenant, time)
  if (threads === null) return null
  const { pairs, alone } = paired(
    stored,
    threads === 'refused' ? await readEarlier(gateway, extension, listed, time) : threads,
  )
  const known = await knownInbound(gateway, extension.tenantId, [...pairs.values()].map(idOf))
  const left = stored.filter((sms) => !known.has(idOf(pairs.get(sms))))
  // Messages at the beginning were read before, with their twins.
  const more = alone
    .filter(isListed)
    .filter(({ record: { createdAt } }) => createdAt >= since + TWIN_MS && createdAt <= until)
  return [...left, ...more].map(({ record }) => record).toSorted((one, other) => one.createdAt - other.createdAt)
}

const idOf = (sms: Sms | undefined): string => sms?.record.providerMessageId ?? ''

async function ofStore(gateway: Gateway, extension: ExtensionRow, records: readonly StoredSms[]): Promise<ListedSms[]> {
  const { directory } = gateway
  const { numbers } = await directory.tenant(extension.tenantId)
  const all = await Promise.all(records.map((record) => smsOf(gateway, extension, record)))
  const now = gateway.clock.now()
  return all.filter(({ to, record: { createdAt } }) =>
    counts(directory, numbers.get(to), { source: 'store', createdAt, now }),
  )
}

async function smsOf(gateway: Gateway, extension: ExtensionRow, record: StoredSms): Promise<ListedSms> {
  const { from, to, text } = await inE164(gateway, await inboundOf(gateway, extension, record))
  return { record, content: JSON.stringify([from, to, text]), to }
}

/** Messages in threads from before a change. */
async function earlyThreads(
  gateway: Gateway,
  extension: ExtensionRow,
  { numbers }: TenantEntry,
  time: { since: number; until: number },
): Promise<ListedSms[] | 'refused' | null> {
  const listed = await listThreads(gateway, extension, time)
  if (listed.type === 'failed' && listed.failure.reason === 'rejected') return 'refused'
  if (listed.type !== 'ok') return null
  const all = await Promise.all(listed.value.map((record) => smsOf(gateway, extension, record)))
  return all.filter(({ to, record }) => isFromBefore(numbers.get(to), record.createdAt))
}

/**
 * The stored messages of a period that the store does not list: those read from threads, which may have gone with the feature. Only their time
 * of storing is known.
 */
async function readEarlier(
  { database }: Gateway,
  { tenantId }: ExtensionRow,
  listed: readonly StoredSms[],
  { since, until }: { since: number; until: number },
): Promise<Sms[]> {
  const ids = new Set(listed.map(({ providerMessageId }) => providerMessageId))
  const rows = await database.reader.longRead(tenantId, READ_EARLIER, [tenantId, since, until])
  const messages = rows.map(({ id, from, to, text, at }) => ({
    record: { providerMessageId: String(id), createdAt: Number(at) },
    content: JSON.stringify([from, to, text]),
    to: String(to),
  }))
  return messages.filter(({ record }) => !ids.has(record.providerMessageId))
}

const READ_EARLIER = `SELECT rc_message_id AS id, from_number AS "from", to_number AS "to", body AS text, created_at AS at FROM messages
  WHERE tenant_id = ?1 AND direction = 'inbound' AND created_at BETWEEN ?2 AND ?3 ORDER BY created_at`

const isListed = (sms: Sms): sms is ListedSms => 'direction' in sms.record

/** Pairs each message of threads with the store's next unpaired one of the same content. */
function paired(stored: readonly ListedSms[], threads: readonly Sms[]): { pairs: Map<Sms, Sms>; alone: Sms[] } {
  const byContent = Map.groupBy(stored, ({ content }) => content)
  const pairs = new Map<Sms, Sms>()
  const alone: Sms[] = []
  for (const one of threads) {
    const twin = byContent.get(one.content)?.find((other) => !pairs.has(other) && areNear(one, other))
    if (twin === undefined) alone.push(one)
    else pairs.set(twin, one)
  }
  return { pairs, alone }
}

const areNear = (one: Sms, other: Sms): boolean => Math.abs(one.record.createdAt - other.record.createdAt) <= TWIN_MS
