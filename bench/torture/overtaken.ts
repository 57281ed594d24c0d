import type { MessageView } from '../../src/simulator/control-messages.ts'
import type { Accepted, SendLoad } from './load.ts'

/**
 * Counts the messages that the provider has in the wrong order: after a message of the same conversation whose request
 * began only after this one was acknowledged.
 */
export function overtaken(
  load: SendLoad,
  records: readonly MessageView[],
  rows: readonly { id: string; rc_message_id: string | null }[],
): number {
  const byRecord = new Map(rows.map((row) => [row.rc_message_id, load.accepted.get(row.id)]))
  const conversations = new Map<string, Accepted[]>()
  for (const record of records.toSorted((one, other) => Number(one.messageId) - Number(other.messageId))) {
    const sent = byRecord.get(record.messageId)
    if (sent === undefined) continue
    const name = `${sent.from} ${sent.to}`
    conversations.set(name, [...(conversations.get(name) ?? []), sent])
  }
  return [...conversations.values()].map(overtakenIn).reduce((sum, count) => sum + count, 0)
}

/** `messages`: in the provider's order. */
function overtakenIn(messages: readonly Accepted[]): number {
  let latest = -Infinity
  let count = 0
  for (const { askedAt, answeredAt } of messages) {
    if (answeredAt <= latest) count++
    latest = Math.max(latest, askedAt)
  }
  return count
}
