import { expect, test } from 'bun:test'
import { manualClock } from '../support/manual-clock.ts'
import { createWorld, temporaryFolder, until } from '../support/world.ts'

test('a quarantined message whose number comes back later is looked up and sent', async () => {
  const clock = manualClock()
  const first = await createWorld({ clock, work: false })
  await using _ = first
  const id = await first.send()
  const { gate } = first.gateway.database
  await gate.execute('UPDATE jobs SET is_quarantined = 1')
  // As when its tenant was disconnected after the restore.
  await gate.batch(['DELETE FROM phone_numbers', 'DELETE FROM extensions'])
})
