import { setImmediate as nextTick } from 'node:timers/promises'
import { type CheckedMessage, acceptAgain } from '../api/sms/accept-message.ts'
import { ApiError } from '../core/errors.ts'
import { MAX_RESENT } from '../core/limits.ts'
import { inBatches } from '../db/batches.ts'
import type { Argument, Row } from '../db/connection.ts'
import type { Gateway } from '../messages/gateway.ts'
import { attachmentsOf } from '../messages/media/attachments.ts'
import { findMedia } from '../messages/media/find-media.ts'
import type { StoredMedia } from '../messages/media/media-rows.ts'
import { type ResendOutcome, argumentsOf, countsSql, portionSql } from './resend-rows.ts'
import type { ResendAnswer, ResendBody } from './resend-schemas.ts'
import { readTenant } from './tenants.ts'

/** Read in one query. */
const PER_READ = 50
/** Accepting this many holds the event loop for 2 ms. */
const ACCEPTED_AT_ONCE = 10

/**
 * Sends failed messages of a tenant again, oldest first, so that each conversation keeps its order. The commit that accepts a new message
 * marks the failed one, so that no message is sent twice by two calls, or by calls before and after a crash. Errors: `tenantNotFound`.
 */
export async function resendMessages(gateway: Gateway, wish: ResendBody): Promise<ResendAnswer> {
  await readTenant(gateway, wish.tenantId)
  const [last] = (await gateway.database.gate.execute('SELECT max(seq) AS seq FROM messages')).rows
  const args = argumentsOf(wish, Number(last?.['seq'] ?? 0), gateway.clock.now())
  const { resent: found, refused, ...left } = await countOutcomes(gateway, wish, args)
  if (wish.dryRun === true) return { resent: Math.min(found, MAX_RESENT), refused, left }
  const done = await sendAll(gateway, wish, args)
  return {
    resent: done.resent,
    refused: refused + done.refused,
    left: { ...left, alreadyResent: left.alreadyResent + done.alreadyResent },
  }
}

type Counts = Record<ResendOutcome, number>

async function countOutcomes({ database }: Gateway, wish: ResendBody, args: Argument[]): Promise<Counts> {
  const rows = await database.reader.longRead(wish.tenantId, countsSql(isNamed(wish)), args)
  const count = (outcome: ResendOutcome): number =>
    Number(rows.find((row) => row['outcome'] === outcome)?.['count'] ?? 0)
  return {
    resent: count('resent'),
    refused: count('refused'),
    optedOut: count('optedOut'),
    tooOld: count('tooOld'),
    cancelled: count('cancelled'),
    perhapsDelivered: count('perhapsDelivered'),
    alreadyResent: count('alreadyResent'),
    notFailed: count('notFailed'),
  }
}

const isNamed = ({ messageIds }: ResendBody): boolean => (messageIds ?? null) !== null

/** What this call did; `alreadyResent`: another call did it in the meantime. */
type Done = Pick<Counts, 'resent' | 'refused' | 'alreadyResent'>

async function sendAll(gateway: Gateway, wish: ResendBody, args: Argument[]): Promise<Done> {
  const done: Done = { resent: 0, refused: 0, alreadyResent: 0 }
  let after: readonly [createdAt: number, seq: number] = [-1, 0]
  await inBatches(gateway, async () => {
    const limit = Math.min(PER_READ, MAX_RESENT - done.resent)
    const rows = await gateway.database.reader.longRead(wish.tenantId, portionSql(isNamed(wish)), [
      ...args,
      ...after,
      limit,
    ])
    for (let from = 0; from < rows.length; from += ACCEPTED_AT_ONCE) {
      await nextTick()
      const portion = rows.slice(from, from + ACCEPTED_AT_ONCE)
      for (const outcome of await sendPortion(gateway, wish, portion)) done[outcome]++
    }
    const end = rows.at(-1)
    if (end !== undefined) after = [Number(end['created_at']), Number(end['seq'])]
    return { count: rows.length, last: rows.length < limit || done.resent >= MAX_RESENT }
  })
  return done
}

/** Media is looked up before the first message is accepted, so that all are accepted in order. */
async function sendPortion(gateway: Gateway, wish: ResendBody, rows: readonly Row[]): Promise<(keyof Done)[]> {
  const now = gateway.clock.now()
  const media = await Promise.all(rows.map((row) => mediaOf(gateway, wish.tenantId, row, now)))
  return Promise.all(rows.map((row, index) => sendAgain(gateway, wish, row, media[index] ?? null, now)))
}

/** A message's media; null if it is no longer kept. */
async function mediaOf(
  { database }: Gateway,
  tenantId: string,
  row: Row,
  now: number,
): Promise<readonly StoredMedia[] | null> {
  const ids = attachmentsOf(row['attachments']).map(({ attachmentId }) => attachmentId)
  return ids.length === 0 ? [] : findMedia(database.gate, tenantId, ids, now)
}

async function sendAgain(
  gateway: Gateway,
  { tenantId, from }: ResendBody,
  row: Row,
  media: readonly StoredMedia[] | null,
  now: number,
): Promise<keyof Done> {
  if (media === null) return 'refused'
  const userId = row['user_id']
  // Its planned time has passed.
  const message: CheckedMessage = {
    from: from ?? String(row['from_number']),
    to: String(row['to_number']),
    body: String(row['body']),
    userId: typeof userId === 'string' ? userId : null,
    sendAt: null,
    media,
  }
  try {
    const caller = { tenantId, appId: String(row['app_id']) }
    return (await acceptAgain(gateway, caller, message, String(row['id']), now)) ? 'resent' : 'alreadyResent'
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'invalid') return 'refused'
    throw error
  }
}
