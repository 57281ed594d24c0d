import { counts, isFromBefore, numbersOf } from '../../provider/inbound-source.ts'
import type { ExtensionRow, TenantEntry } from '../../provider/directory.ts'
import type { StoredSms } from '../../provider/provider.ts'
import type { Gateway } from '../gateway.ts'
import { listThreads } from './fill-threads.ts'
import { knownInbound } from './known-inbound.ts'
import { inE164 } from './store-inbound.ts'
import { inboundOf } from './inbound-sms.ts'

// A number has one source. Only around a change may both have its messages, and then the same text of the same time is one message.

/** How far the times of such twins are apart. */
const TWIN_MS = 10_000

interface Sms {
  record: StoredSms
  /** Numbers and text, which twins have in common. */
  content: string
  to: string
}

/**
 * The messages of a time that count: of those that the store has, and of those that threads have from before a change of a number's source.
 * Null if the threads of that time could not be read now. The provider's lists are whole by then, so twins are found by them alone.
 */
export async function withoutTwins(
  gateway: Gateway,
  extension: ExtensionRow,
  { since, until }: { since: number; until: number },
  listed: readonly StoredSms[],
): Promise<StoredSms[] | null> {
  const tenant = await gateway.directory.tenant(extension.tenantId)
  const stored = await ofSource(gateway, extension, listed, 'store')
  const spansChange = numbersOf(tenant, extension).some((row) => isFromBefore(row, since))
  if (!spansChange) return stored.map(({ record }) => record)
  const threads = await earlyThreads(gateway, extension, tenant, { since: since - TWIN_MS, until: until + TWIN_MS })
  if (threads === null) return null
  const { pairs, alone } = paired(stored, threads)
  const known = await knownInbound(gateway, extension.tenantId, [...pairs.values()].map(idOf))
  const left = stored.filter((sms) => !known.has(idOf(pairs.get(sms))))
  // What is at the beginning was read before, with its twin.
  const more = alone.filter(({ record: { createdAt } }) => createdAt >= since + TWIN_MS && createdAt <= until)
  return [...left, ...more].map(({ record }) => record).toSorted((one, other) => one.createdAt - other.createdAt)
}

const idOf = (sms: Sms | undefined): string => sms?.record.providerMessageId ?? ''

async function ofSource(
  gateway: Gateway,
  extension: ExtensionRow,
  records: readonly StoredSms[],
  source: 'store' | 'threads',
): Promise<Sms[]> {
  const { directory } = gateway
  const { numbers } = await directory.tenant(extension.tenantId)
  const all = await Promise.all(records.map((record) => smsOf(gateway, extension, record)))
  const now = gateway.clock.now()
  return all.filter(({ to, record: { createdAt } }) => counts(directory, numbers.get(to), { source, createdAt, now }))
}

async function smsOf(gateway: Gateway, extension: ExtensionRow, record: StoredSms): Promise<Sms> {
  const { from, to, text } = await inE164(gateway, await inboundOf(gateway, extension, record))
  return { record, content: JSON.stringify([from, to, text]), to }
}

/** What threads have from before a change; nothing if they may not be read. */
async function earlyThreads(
  gateway: Gateway,
  extension: ExtensionRow,
  { numbers }: TenantEntry,
  time: { since: number; until: number },
): Promise<Sms[] | null> {
  const listed = await listThreads(gateway, extension, time)
  if (listed.type === 'failed' && listed.failure.reason === 'rejected') return []
  if (listed.type !== 'ok') return null
  const all = await Promise.all(listed.value.map((record) => smsOf(gateway, extension, record)))
  return all.filter(({ to, record }) => isFromBefore(numbers.get(to), record.createdAt))
}

/** Pairs each message of threads with the next one of the store that has its content, and no other pair. */
function paired(stored: readonly Sms[], threads: readonly Sms[]): { pairs: Map<Sms, Sms>; alone: Sms[] } {
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
