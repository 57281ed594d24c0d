import { expect, test } from 'bun:test'
import { createWorld } from '../support/world.ts'

test('a message that has ended before its turn uses no slot of the rate window', async () => {
  await using world = await createWorld({ work: false, env: { FROM_LIMIT_PER_MINUTE: '1' } })
  const cancelled = await world.send({ body: 'cancelled' })
  const next = await world.send({ body: 'next' })
  // This is the state after the cancel of a message whose job is not in memory.
  await world.gateway.database.gate.execute({
    sql: `UPDATE messages SET status = 'failed' WHERE id = ?1`,
    args: [cancelled],
  })
  world.running.work()
  expect(await world.untilStatus(next)).toMatchObject({ status: 'sent' })
  expect(world.control.messages({ direction: 'Outbound' }).map(({ text }) => text)).toEqual(['next'])
})
