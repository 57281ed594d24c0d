import { type World, FROM } from '../../support/world.ts'
import type { FaultCase } from '../fault-table/case.ts'
import { pass } from '../fault-table/passing-time.ts'

/** The n-th contact of a test. */
export const contact = (n: number): string => `+1555777${String(n).padStart(4, '0')}`

export const texts = (count: number, prefix = 'part'): string[] =>
  Array.from({ length: count }, (_, n) => `${prefix} ${n + 1}`)

/** Returns the texts of the messages that the provider has, oldest first. */
export const record = (world: World): string[] =>
  world.control.messages({ direction: 'Outbound' }).map(({ text }) => text ?? '')

/** Sends each text after the 202 of the previous one. Returns the ids. */
export async function sendEach(
  world: World,
  bodies: readonly string[],
  to: (n: number) => string = () => contact(0),
  from = FROM,
): Promise<string[]> {
  const ids: string[] = []
  for (const [n, body] of bodies.entries()) ids.push(await world.send({ from, to: to(n), body }))
  return ids
}

export async function countOf(world: World, status: string): Promise<number> {
  return Number((await world.json('GET', `/v1/sms/messages?limit=1&status=${status}`)).body['total'])
}

/** Advances the clock until `count` messages are sent. Throws as soon as one has failed. */
export async function untilSent(one: FaultCase, count: number, withinMs = 20 * 60_000, stepMs = 1000): Promise<void> {
  const { world } = one
  // Two requests for each step would take most of the test, so the API is asked when the rows have ended.
  const isDone = async (): Promise<true | null> => {
    const stored = await storedCounts(world)
    if ((stored['failed'] ?? 0) > 0) throw new Error('A message has failed')
    if (stored['sent'] !== count) return null
    return (await countOf(world, 'failed')) === 0 && (await countOf(world, 'sent')) === count ? true : null
  }
  await pass(one, withinMs, isDone, stepMs)
}

async function storedCounts(world: World): Promise<Record<string, number>> {
  const sql = 'SELECT status, count(*) AS count FROM messages WHERE tenant_id = ?1 GROUP BY status'
  const { rows } = await world.gateway.database.gate.execute({ sql, args: [world.tenantId] })
  return Object.fromEntries(rows.map(({ status, count }) => [String(status), Number(count)]))
}

/** Records the texts of all further calls, in the order in which they begin. */
export function watchCalls(world: World): string[] {
  const { provider } = world.gateway
  const begun: string[] = []
  const call = provider.sendSms
  provider.sendSms = (token, message) => (begun.push(message.text), call(token, message))
  return begun
}
