import { expect, spyOn, test } from 'bun:test'
import { purgeUsage } from '../../../src/messages/upkeep/purge-usage.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { createWorld } from '../../support/world.ts'

test('counts are kept for two years', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  await world.send()
  const rows = async (): Promise<number> =>
    (await world.gateway.database.gate.execute('SELECT 1 FROM usage')).rows.length
  clock.advance(731 * 86_400_000)
  await purgeUsage(world.gateway)
  expect(await rows()).toBe(1)
  clock.advance(30 * 60_000)
  await purgeUsage(world.gateway)
  expect(await rows()).toBe(0)
})

test('years of counts are deleted in small commits', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, connect: false, work: false })
  const { gate } = world.gateway.database
  const table = 'INSERT INTO usage (tenant_id, half_hour, app_id, latency_ms, sent)'
  await gate.execute(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1999)
    ${table} SELECT '${world.tenantId}', 100 + i / 40, 'app_1', i % 40, 1 FROM n`)
  const counts = [2000]
  const batch = gate.batch
  const spy = spyOn(gate, 'batch').mockImplementation(async (statements) => {
    const results = await batch(statements)
    counts.push(Number((await gate.execute('SELECT count(*) AS count FROM usage')).rows[0]?.['count']))
    return results
  })
  await purgeUsage(world.gateway)
  spy.mockRestore()
  expect(counts.at(-1)).toBe(0)
  expect(Math.max(...counts.map((count, index) => (counts[index - 1] ?? count) - count))).toBe(40)
})
