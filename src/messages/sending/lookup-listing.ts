import { HOUR_MS } from '../../core/limits.ts'
import { type TenantEntry, listedBy } from '../../provider/directory.ts'
import type { ExtensionKey } from '../../provider/extension-rows.ts'
import type { MessageListing } from '../../provider/message-listings.ts'
import { provesAbsence } from '../../provider/number-owners.ts'
import type { MessageQuery, StoredSms } from '../../provider/provider.ts'
import type { SendingContext } from './context.ts'
import type { Entry, OpenAttempt } from './number-queue.ts'

/** Listings begin a little earlier than needed. */
const LISTING_MARGIN_MS = 60_000
/** The clock of another process may have been wrong by an hour. */
export const OTHER_CLOCK_MS = HOUR_MS

/** The evidence of one listing of the provider's message store about attempts of unknown outcome. */
export interface Lookup {
  /** Steady times: the start of the listing, and when it was requested. */
  since: number
  beganAt: number
  /** The records that belong to no message. */
  records: StoredSms[]
  /** Whether a missing record proves anything: the message store was listed, and every record could be read. */
  isComplete: boolean
  /** Whether a missing record of this number proves anything: its messages are in a listed store. */
  proves: (number: string) => boolean
  /** Whether it began when all calls from before a restore had ended. */
  decidesQuarantine: boolean
  /** The ids of records that this lookup has assigned to messages. */
  takenIds: Set<string>
  /** Set if the listing was deferred. */
  retryInMs: number | null
}

/** Lists what an extension has sent since the oldest of these attempts. */
export async function listSent(context: SendingContext, key: ExtensionKey, entries: readonly Entry[]): Promise<Lookup> {
  const { messageListings, numbers, clock } = context
  const beganAt = clock.steady()
  const since = Math.min(...entries.map(({ attempt }) => (attempt === null ? beganAt : sinceOf(attempt))))
  let unreadable = 0
  const query: MessageQuery = {
    direction: 'Outbound',
    since: clock.now() - beganAt + since,
    skipped: () => void unreadable++,
  }
  const listed = await messageListings.list(key, () => {
    unreadable = 0
    return query
  })
  const { records, ofEveryOwner } = listed.type === 'ok' ? listed.value : NOTHING
  const isComplete = listed.type === 'ok' && unreadable === 0
  const tenant = await numbers.tenantOf(key)
  const isElsewhere = ({ queue: { number } }: Entry): boolean =>
    listed.type === 'gone' || listedBy(tenant, key.extensionId, number) === undefined
  const all = [...records, ...(await listOthers(context, key, { tenant, entries: entries.filter(isElsewhere), query }))]
  const ownedIds = await ownedIdsOf(context, all)
  return {
    since,
    beganAt,
    records: all.filter((record) => !ownedIds.has(record.providerMessageId)),
    isComplete,
    proves: (number) => provesAbsence(tenant, { number, extensionId: key.extensionId, ofEveryOwner }),
    decidesQuarantine: isComplete && entries.some((entry) => entry.isQuarantined && isSettled(entry, beganAt)),
    takenIds: new Set(),
    retryInMs: listed.type === 'deferred' ? listed.retryInMs : null,
  }
}

const NOTHING: MessageListing = { records: [], ofEveryOwner: false }

/**
 * Lists the extensions that send for these numbers now, after this one was disconnected or lost them: the messages of a call queue are in the
 * queue's store, whichever recipient sent them. A record proves that a message was sent, but a missing record proves nothing.
 */
async function listOthers(
  { messageListings }: SendingContext,
  { tenantId, extensionId }: ExtensionKey,
  { tenant, entries, query }: { tenant: TenantEntry; entries: readonly Entry[]; query: MessageQuery },
): Promise<StoredSms[]> {
  const senders = new Set(entries.map(({ queue }) => tenant.numbers.get(queue.number)?.extensionId ?? extensionId))
  senders.delete(extensionId)
  const asked = { ...query, skipped: () => undefined }
  const listed = await Promise.all(
    [...senders].map((sender) => messageListings.list({ tenantId, extensionId: sender }, () => asked)),
  )
  return listed.flatMap((one) => (one.type === 'ok' ? one.value.records : []))
}

/** Whether a record that is missing at this steady time means that nothing was sent. */
export const isSettled = ({ attempt }: Pick<Entry, 'attempt'>, at: number): boolean =>
  at >= (attempt?.absentAfter ?? Infinity)

/** The start of a listing that has the record of an attempt, steady time. */
export const sinceOf = (attempt: OpenAttempt): number => attempt.startedAt - uncertaintyMs(attempt) - LISTING_MARGIN_MS

const uncertaintyMs = ({ isOwn, providerStartedAt }: OpenAttempt): number =>
  isOwn && providerStartedAt !== null ? 0 : OTHER_CLOCK_MS

/** The ids of records that belong to messages already. */
async function ownedIdsOf({ database }: SendingContext, records: readonly StoredSms[]): Promise<Set<string>> {
  if (records.length === 0) return new Set()
  const { rows } = await database.gate.execute({
    sql: `SELECT rc_message_id FROM messages WHERE rc_message_id IN (SELECT value FROM json_each(?1)) AND direction = 'outbound'`,
    args: [JSON.stringify(records.map((record) => record.providerMessageId))],
  })
  return new Set(rows.map((row) => String(row['rc_message_id'])))
}
