import { expect, spyOn, test } from 'bun:test'
import { purgeDeliveries } from '../../../src/messages/upkeep/purge-deliveries.ts'
import { type DeliveryRow, insertDeliveries, messageIdOf } from '../../support/delivery-rows.ts'
import { confirmClock } from '../../support/confirmed-clock.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { type World, createWorld, until } from '../../support/world.ts'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

const rowsOf = (world: World, count: number, attemptedAt: number, first = 0): DeliveryRow[] =>
  Array.from({ length: count }, (_, index) => ({
    messageId: messageIdOf(first + index),
    kind: 'app',
    targetId: world.app.appId,
    outcome: 'success',
    attemptedAt,
  }))

const countRows = async (world: World): Promise<number> =>
  Number((await world.gateway.database.gate.execute('SELECT count(*) AS n FROM webhook_attempts')).rows[0]?.['n'])

test('deliveries over 30 days old are deleted, at most 500 per commit, and newer ones are kept', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const limit = Date.now() - 30 * DAY_MS
  await insertDeliveries(world, [
    ...rowsOf(world, 1201, limit - MINUTE_MS),
    ...rowsOf(world, 3, limit + MINUTE_MS, 5000),
  ])
  const write = spyOn(world.gateway.database.writer, 'write')
  expect(await purgeDeliveries(world.gateway)).toBe(1201)
  const deleted = await Promise.all(
    write.mock.results.map(async (call) => ((await call.value) as { rows: unknown[] }[])[0]?.rows.length ?? 0),
  )
  expect(Math.max(...deleted)).toBeLessThanOrEqual(500)
  expect(deleted.length).toBeGreaterThan(2)
  expect(await countRows(world)).toBe(3)
})

test('a purge that has waited for the first answer of the provider runs within a minute of it', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, clock })
  await insertDeliveries(world, rowsOf(world, 2, clock.now() - 31 * DAY_MS))
  for (let minute = 0; minute < 5; minute++) {
    clock.advance(MINUTE_MS)
    await world.gateway.database.gate.execute('SELECT 1')
  }
  expect(await countRows(world)).toBe(2)
  confirmClock(world)
  clock.advance(MINUTE_MS)
  await until(async () => (await countRows(world)) === 0)
})

test('the purge runs every hour', async () => {
  const clock = manualClock()
  await using world = await createWorld({ connect: false, clock })
  confirmClock(world)
  const advance = async (ms: number, left: number): Promise<void> => {
    clock.advance(ms)
    await until(async () => (await countRows(world)) === left)
  }
  await insertDeliveries(world, [
    ...rowsOf(world, 2, clock.now() - 31 * DAY_MS),
    ...rowsOf(world, 1, clock.now() - 30 * DAY_MS + 30 * MINUTE_MS, 100),
  ])
  await advance(4 * MINUTE_MS, 1)
  await advance(61 * MINUTE_MS, 0)
})
