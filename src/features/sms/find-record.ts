import { MESSAGE_ERRORS } from '../../core/errors.ts'
import type { Gateway } from '../../gateway.ts'
import { OPEN_FIRST_ATTEMPT } from '../../db/open-attempts.ts'
import type { StoredSms } from '../../provider/provider.ts'
import type { OutboundMessage } from './outbound-message.ts'
import { AGAIN } from './send-lane.ts'

/** As the index `messages_unconfirmed` has it. */
const IS_UNCONFIRMED = `error = '${MESSAGE_ERRORS.unconfirmed}'`

/** The provider's store may cut a long text; this much of it must be there for a match. */
const MIN_PREFIX_UNITS = 100

/**
 * The record of this message among those of the provider's store: the first one with its text on its way that no message
 * of ours is bound to yet. A record that holds only the beginning of the text counts too, unless another message that
 * may have been sent has exactly that text.
 */
export async function findRecord(
  gateway: Gateway,
  message: OutboundMessage,
  records: readonly StoredSms[],
): Promise<StoredSms | null> {
  const matching = records.filter((record) => matches(message, record))
  if (matching.length === 0) return null
  const cut = matching.filter((record) => record.text !== message.body)
  // Before what is bound: whoever gets its record in between is found by one of the two.
  const owned = cut.length === 0 ? null : await textsOfOthers(gateway, message, cut)
  const bound = await boundIds(gateway, matching)
  const unbound = matching.filter((record) => !bound.has(record.providerMessageId))
  const whole = unbound.find((record) => record.text === message.body)
  return whole ?? unbound.find((record) => owned?.has(record.text) === false) ?? null
}

function matches(message: OutboundMessage, record: StoredSms): boolean {
  const sameWay = record.from === message.from && record.to[0]?.phoneNumber === message.to
  const cut = record.text.length >= MIN_PREFIX_UNITS && message.body.startsWith(record.text)
  return sameWay && (record.text === message.body || cut)
}

async function boundIds(gateway: Gateway, records: readonly StoredSms[]): Promise<Set<string>> {
  const { rows } = await gateway.database.gate.execute({
    sql: `SELECT rc_message_id FROM messages WHERE rc_message_id IN (SELECT value FROM json_each(?1)) AND direction = 'outbound'`,
    args: [JSON.stringify(records.map((record) => record.providerMessageId))],
  })
  return new Set(rows.map((row) => String(row['rc_message_id'])))
}

/**
 * No index leads to all messages of a way: these are found by what keeps them open, and those that were left open for ever
 * by their index. Open first attempts, open attempts, tried before (`/again`), being settled, behind the fence: what waits
 * for its first call was never sent. Behind the fence is all that waits on the number after a restore: 0.1 to 0.2 s with
 * 100,000.
 */
const MAY_HAVE_BEEN_SENT = `SELECT id FROM messages WHERE ${OPEN_FIRST_ATTEMPT} AND to_number = ?2 AND from_number = ?3
  UNION ALL SELECT message_id FROM send_attempts WHERE outcome IS NULL AND to_number = ?2 AND from_number = ?3
  UNION ALL SELECT subject FROM jobs INDEXED BY jobs_by_lane WHERE kind = 'send' AND lane = ?3 || '${AGAIN}'
  UNION ALL SELECT subject FROM jobs INDEXED BY jobs_by_lane WHERE kind = 'settle'
  UNION ALL SELECT subject FROM jobs INDEXED BY jobs_by_lane WHERE kind = 'fence' AND lane IN (?3, ?3 || '${AGAIN}')
  UNION ALL SELECT id FROM messages INDEXED BY messages_unconfirmed WHERE ${IS_UNCONFIRMED} AND to_number = ?2 AND from_number = ?3`

/** Those of these texts that are the whole text of another message on the same way of which it is not known whether it was sent. */
async function textsOfOthers(
  gateway: Gateway,
  { id, tenantId, from, to }: OutboundMessage,
  records: readonly StoredSms[],
): Promise<Set<string>> {
  const { rows } = await gateway.database.gate.execute({
    sql: `SELECT body FROM messages WHERE id IN (${MAY_HAVE_BEEN_SENT})
      AND +tenant_id IN (SELECT ?1 UNION SELECT tenant_id FROM phone_numbers WHERE number = ?3)
      AND to_number = ?2 AND from_number = ?3 AND direction = 'outbound' AND id != ?4 AND rc_message_id IS NULL AND body IN (SELECT value FROM json_each(?5))
      AND (status = 'sending' OR ${IS_UNCONFIRMED} OR EXISTS (SELECT 1 FROM jobs WHERE kind = 'fence' AND subject = messages.id))`,
    args: [tenantId, to, from, id, JSON.stringify(records.map((record) => record.text))],
  })
  return new Set(rows.map((row) => String(row['body'])))
}
