import { expect, test } from 'bun:test'
import { DAY_MS } from '../../../src/core/limits.ts'
import { purgeMessages } from '../../../src/messages/upkeep/purge-messages.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { writeManyMessages } from '../../support/many-messages.ts'
import { type World, createWorld } from '../../support/world.ts'

const writeOld = (world: World, count: number, ageDays: number): Promise<void> =>
  writeManyMessages(world.gateway.database.gate, {
    count,
    since: world.gateway.clock.now() - ageDays * DAY_MS,
    tenantId: world.tenantId,
    appId: world.app.appId,
  })

async function countOf(
  world: World,
  table: 'messages' | 'send_attempts' | 'webhook_attempts' | 'idempotency_keys',
): Promise<number> {
  const { rows } = await world.gateway.database.gate.execute(`SELECT count(*) AS count FROM ${table}`)
  return Number(rows[0]?.['count'])
}

test('the purge deletes old messages with their attempts and deliveries, and no newer one', async () => {
  await using world = await createWorld({ env: { MESSAGE_RETENTION_DAYS: '30' } })
  await writeOld(world, 200, 40)
  const young = await world.send()
  await world.untilStatus(young)
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 400 } })
  const rejected = await world.send({ body: 'Another' })
  await world.untilStatus(rejected)
  expect(await purgeMessages(world.gateway)).toMatchObject({ messages: 200 })
  expect(await countOf(world, 'messages')).toBe(2)
  expect(await countOf(world, 'send_attempts')).toBe(2)
  expect(await countOf(world, 'webhook_attempts')).toBe(0)
  expect(await world.status(young)).toMatchObject({ status: 'sent' })
  expect(await world.status(rejected)).toMatchObject({ status: 'failed' })
})

test('by default messages are kept for ever, and attempts for a week', async () => {
  await using world = await createWorld()
  await writeOld(world, 100, 400)
  expect(await purgeMessages(world.gateway)).toMatchObject({ messages: 0, attempts: 75 })
  expect(await countOf(world, 'messages')).toBe(100)
  expect(await countOf(world, 'send_attempts')).toBe(0)
})

test('a wall clock that was set ahead deletes no new attempt', async () => {
  const clock = manualClock()
  let aheadMs = 0
  await using world = await createWorld({ clock: { ...clock, now: () => clock.now() + aheadMs } })
  await world.untilStatus(await world.send(), ['sent'])
  aheadMs = 30 * DAY_MS
  expect(await purgeMessages(world.gateway)).toMatchObject({ attempts: 0 })
  clock.advance(8 * DAY_MS)
  aheadMs = -8 * DAY_MS
  expect(await purgeMessages(world.gateway)).toMatchObject({ attempts: 1 })
})

test('the purge keeps an old message that has not ended, and its attempts', async () => {
  await using world = await createWorld({ env: { MESSAGE_RETENTION_DAYS: '1' }, work: false })
  const waiting = await world.send()
  await writeOld(world, 120, 10)
  const { gate } = world.gateway.database
  await gate.execute({
    sql: 'UPDATE messages SET created_at = ?2, seq = -1 WHERE id = ?1',
    args: [waiting, world.gateway.clock.now() - 20 * DAY_MS],
  })
  await gate.execute(`UPDATE messages SET status = 'sending' WHERE id = 'msg_000000000000'`)
  expect(await purgeMessages(world.gateway)).toMatchObject({ messages: 119 })
  expect(await countOf(world, 'messages')).toBe(2)
  expect(await countOf(world, 'send_attempts')).toBe(1)
})

test('messages that were stored while the clock was ahead do not stop the purge', async () => {
  await using world = await createWorld({ env: { MESSAGE_RETENTION_DAYS: '30' } })
  await writeOld(world, 200, 40)
  await world.gateway.database.gate.execute({
    sql: 'UPDATE messages SET created_at = ?1 WHERE seq IN (SELECT seq FROM messages ORDER BY seq LIMIT 3)',
    args: [world.gateway.clock.now() + DAY_MS],
  })
  expect(await purgeMessages(world.gateway)).toMatchObject({ messages: 197 })
})

test('idempotency keys are deleted after a day', async () => {
  await using world = await createWorld()
  await world.send({}, { headers: { 'idempotency-key': 'one' } })
  await world.send({ body: 'Two' }, { headers: { 'idempotency-key': 'two' } })
  await world.gateway.database.gate.execute({
    sql: `UPDATE idempotency_keys SET created_at = ?1 WHERE key = 'one'`,
    args: [world.gateway.clock.now() - DAY_MS - 1],
  })
  expect(await purgeMessages(world.gateway)).toMatchObject({ keys: 1 })
  expect(await countOf(world, 'idempotency_keys')).toBe(1)
})

test('messages are deleted in small batches, which do not block the event loop for long', async () => {
  await using world = await createWorld({ env: { MESSAGE_RETENTION_DAYS: '1' } })
  await writeOld(world, 500, 10)
  const { writer } = world.gateway.database
  const left: number[] = [500]
  const write = writer.write.bind(writer)
  writer.write = async (statements) => {
    const results = await write(statements)
    left.push(await countOf(world, 'messages'))
    return results
  }
  expect(await purgeMessages(world.gateway)).toMatchObject({ messages: 500 })
  const gone = left.map((count, index) => (left[index - 1] ?? count) - count)
  expect(Math.max(...gone)).toBeLessThanOrEqual(50)
  expect(left.at(-1)).toBe(0)
})

test('a message with very many webhook attempts is deleted in small batches, too', async () => {
  await using world = await createWorld({ env: { MESSAGE_RETENTION_DAYS: '1' }, connect: false, work: false })
  await writeOld(world, 8, 10)
  const { gate, writer } = world.gateway.database
  await gate.execute(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO webhook_attempts (delivery_id, attempt_number, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at, outcome)
    SELECT delivery_id, i, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at, 'timeout' FROM webhook_attempts, n`)
  const left: number[] = [await countOf(world, 'webhook_attempts')]
  const write = writer.write.bind(writer)
  writer.write = async (statements) => {
    const results = await write(statements)
    left.push(await countOf(world, 'webhook_attempts'))
    return results
  }
  expect(left).toEqual([4000])
  expect(await purgeMessages(world.gateway)).toMatchObject({ messages: 8 })
  const gone = left.map((count, index) => (left[index - 1] ?? count) - count)
  expect(Math.max(...gone)).toBeLessThanOrEqual(1000)
  expect(left.at(-1)).toBe(0)
})
