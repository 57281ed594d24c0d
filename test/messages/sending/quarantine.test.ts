import { expect, test } from 'bun:test'
import { manualClock } from '../../support/manual-clock.ts'
import { quarantine } from '../../support/quarantine.ts'
import { createWorld, until } from '../../support/world.ts'

test('a quarantined message is looked up and sent when its number is connected again', async () => {
  const clock = manualClock()
  await using first = await createWorld({ clock, work: false })
  await first.send()
  // This is the state after a restore and a disconnect.
  await quarantine(first)
  await first.gateway.database.gate.batch(['DELETE FROM phone_numbers', 'DELETE FROM extensions'])
  await first.running.stop()
  const { folder, tenantId } = first
  await using second = await createWorld({ clock, folder, connect: false, env: { RECONCILE_SETTLE: '1s' } })
  expect((await second.connect({ tenantId })).status).toBe(200)
  clock.advance(60_000)
  await until(() => second.control.messages({ direction: 'Outbound' }).length === 1)
})
