import { HOUR_MS } from '../../core/limits.ts'
import type { ExtensionKey } from '../../provider/extension-rows.ts'
import { LIST_TOO_LONG, type MessageQuery, type StoredSms } from '../../provider/provider.ts'
import type { MessageListing } from '../../provider/message-listings.ts'
import type { CallResult } from '../../provider/extension-calls.ts'
import { type Conclusion, conclude } from './conclude.ts'
import type { ReceiptContext } from './context.ts'
import { firstSentAfter, openMessages, oldestOpen, sentAtOffset } from './state-rows.ts'
import { TRACKED_MS } from './poll-plan.ts'

/** The most messages that one listing covers, so that it has few pages even if others use the extension as well. */
export const MAX_POLLED = 5000
const MIN_POLLED = 50
/** Listings begin and end a little outside the needed period. */
const LISTING_MARGIN_MS = 60_000
/** Each page of a listing is a call. */
const RECORDS_PER_CALL = 1000
/** A listing gives up after this many pages. */
const CALLS_OF_TOO_LONG_LISTING = 20
/** At 40 a minute the gateway adds at most 14,400 records of an extension in this time: fewer than a listing may have. */
const LONGEST_LISTING_MS = 6 * HOUR_MS
/** Messages concluded at a time. */
const ROWS_AT_ONCE = 200

export interface Polled {
  /** Messages sent up to this steady time were polled. */
  until: number
  calls: number
  /** The most messages that the next poll should cover. */
  maxPolled: number
}

/** Lists the records of messages that an extension sent since `since` (steady time), and concludes those with a final status. */
export async function poll(
  context: ReceiptContext,
  key: ExtensionKey,
  since: number,
  maxPolled: number,
): Promise<Polled> {
  const now = context.clock.steady()
  const end = await listingEnd(context, key, since, maxPolled)
  const listed = await list(context, key, since, end)
  context.meter.deliveryPoll(listed.type === 'failed' ? listed.failure.reason : listed.type)
  if (listed.type === 'ok') {
    const { records } = listed.value
    await concludeFound(context, key.tenantId, records)
    const calls = Math.floor(records.length / RECORDS_PER_CALL) + 1
    const isWhole = end === null || (await firstSentAfter(context.database.gate, key, [end]))[0] === null
    return { until: isWhole ? now : end, calls, maxPolled: Math.min(maxPolled * 2, MAX_POLLED) }
  }
  const isTooLong = listed.type === 'failed' && listed.failure.code === LIST_TOO_LONG && maxPolled > MIN_POLLED
  if (isTooLong) return { until: since - 1, calls: CALLS_OF_TOO_LONG_LISTING, maxPolled: Math.floor(maxPolled / 2) }
  // A failed poll counts as done, because the poll at the next age reads the same records.
  return { until: now, calls: 1, maxPolled }
}

/** Returns the steady time at which a listing that begins at `since` ends. Null: open-ended. */
async function listingEnd(
  { database, clock }: ReceiptContext,
  key: ExtensionKey,
  since: number,
  maxPolled: number,
): Promise<number | null> {
  const offset = await sentAtOffset(database.gate, key, since, maxPolled)
  const end = Math.min(offset ?? Infinity, since + LONGEST_LISTING_MS)
  return end < clock.steady() ? end : null
}

/** Concludes messages as unknown a day after they were sent. */
export async function endTracking(context: ReceiptContext, key: ExtensionKey): Promise<void> {
  const sentUntil = Math.floor(context.clock.steady()) - TRACKED_MS
  for (;;) {
    const messages = await oldestOpen(context.database.gate, key, sentUntil, ROWS_AT_ONCE)
    const unknown: Conclusion = { conclusion: 'unknown', errorCode: null, recordedAt: 0 }
    await Promise.all(messages.map((message) => conclude(context, message, unknown)))
    if (messages.length < ROWS_AT_ONCE) return
  }
}

/** Lists records between two steady times. The provider's listing takes wall-clock times. */
function list(
  { messageListings, clock }: ReceiptContext,
  key: ExtensionKey,
  since: number,
  end: number | null,
): Promise<CallResult<MessageListing>> {
  const wallClock = (steady: number): number => clock.now() - (clock.steady() - steady)
  const query: MessageQuery = {
    direction: 'Outbound',
    since: wallClock(since) - LISTING_MARGIN_MS,
    ...(end === null ? {} : { until: wallClock(end) + LISTING_MARGIN_MS }),
    // An unreadable record does not affect the others.
    skipped: () => undefined,
  }
  return messageListings.list(key, () => query)
}

async function concludeFound(context: ReceiptContext, tenantId: string, records: readonly StoredSms[]): Promise<void> {
  const ended = records.flatMap((record) => {
    const conclusion = conclusionOf(record)
    return conclusion === null ? [] : [{ id: record.providerMessageId, conclusion }]
  })
  for (let first = 0; first < ended.length; first += ROWS_AT_ONCE) {
    const some = ended.slice(first, first + ROWS_AT_ONCE)
    const open = await openMessages(
      context.database.gate,
      tenantId,
      some.map(({ id }) => id),
    )
    await Promise.all(
      some.map(async ({ id, conclusion }) => {
        const message = open.get(id)
        if (message !== undefined) await conclude(context, message, conclusion)
      }),
    )
  }
}

/** The conclusion of a record; null while its status may still change. */
function conclusionOf({ messageStatus, deliveryErrorCode, createdAt: recordedAt }: StoredSms): Conclusion | null {
  switch (messageStatus) {
    case 'Delivered':
      return { conclusion: 'delivered', errorCode: null, recordedAt }
    case 'SendingFailed':
    case 'DeliveryFailed':
      return { conclusion: 'undelivered', errorCode: deliveryErrorCode, recordedAt }
    default:
      return null
  }
}
