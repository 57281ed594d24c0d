import { expect, test } from 'bun:test'
import { purgeUsage } from '../../src/upkeep/purge-usage.ts'
import { manualClock } from '../support/manual-clock.ts'
import { createWorld } from '../support/world.ts'

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
