import { and, eq, gte, inArray, ne } from 'drizzle-orm'
import type { z } from 'zod'
import type { Caller } from '../../core/caller.ts'
import { apiError } from '../../core/errors.ts'
import { writeExactJson } from '../../core/exact-json.ts'
import { sha256Hex } from '../../core/secrets.ts'
import { idempotencyKeys } from '../../db/schema/messages.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { type Once, acceptMessage, keysExpiredBefore } from './accept-message.ts'
import { type Notified, NotifyKey, type NotifyQuery, isMessageText } from './schemas.ts'
import { filled, usualText } from './template.ts'

/** A tool's post, raw and parsed. */
export interface Posted {
  bytes: Uint8Array
  json: unknown
}

export interface NotifyResult extends Notified {
  /** True if an earlier request with the same key had all of the messages. */
  replayed: boolean
}

/**
 * Accepts a text from a tool's JSON, a message to each recipient. Resolves when all are on disk. With a key, a repetition accepts what
 * is missing. Errors: `badNotifyKey`, `badBodyLength`, `idempotencyConflict`.
 */
export async function notify(
  gateway: Gateway,
  caller: Caller,
  { from, to, text: template }: z.output<typeof NotifyQuery>,
  { bytes, json }: Posted,
  idempotencyKey: string | null,
): Promise<NotifyResult> {
  const key = checkedKey(idempotencyKey)
  const body = template === undefined ? usualText(json) : filled(template, json)
  if (!isMessageText(body)) throw apiError('badBodyLength')
  const now = gateway.clock.now()
  const requestHash =
    key === null ? '' : sha256Hex(writeExactJson([from, to, template ?? null, comparable(bytes, json)]))
  const onceFor = (recipient: string): Once | null =>
    key === null ? null : { key: `${key}:${recipient}`, requestHash }
  await refuseOther(gateway, caller, to.map(onceFor), now)
  const accepting = to.map(async (recipient) => {
    const message = { from, to: recipient, body, userId: null, sendAt: null, media: [] }
    const { replayed, ...accepted } = await acceptMessage(gateway, caller, message, onceFor(recipient), now)
    return { replayed, message: { ...accepted, to: recipient } }
  })
  const results = await Promise.all(accepting)
  return { messages: results.map(({ message }) => message), replayed: results.every(({ replayed }) => replayed) }
}

/** Larger bodies are compared byte by byte, because rewriting one of 100 KB takes milliseconds. Others keep the hashes of earlier releases. */
const REWRITTEN_BYTES = 16_384

const comparable = (bytes: Uint8Array, json: unknown): unknown =>
  bytes.length > REWRITTEN_BYTES ? sha256Hex(bytes) : json

function checkedKey(key: string | null): string | null {
  if (key === null) return null
  if (!NotifyKey.safeParse(key).success) throw apiError('badNotifyKey')
  return key
}

/** Refuses a key that another request has used for one of the recipients, before a message to any of them is accepted. */
async function refuseOther(
  gateway: Gateway,
  caller: Caller,
  onces: readonly (Once | null)[],
  now: number,
): Promise<void> {
  const given = onces.filter((once) => once !== null)
  const [first] = given
  if (first === undefined) return
  const used = await gateway.database.orm
    .select({ key: idempotencyKeys.key })
    .from(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.appId, caller.appId),
        inArray(
          idempotencyKeys.key,
          given.map(({ key }) => key),
        ),
        ne(idempotencyKeys.requestHash, first.requestHash),
        gte(idempotencyKeys.createdAt, keysExpiredBefore(gateway, now)),
      ),
    )
  if (used.length > 0) throw apiError('idempotencyConflict')
}
