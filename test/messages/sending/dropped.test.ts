import { expect, test } from 'bun:test'
import { cancel } from '../../../src/api/sms/cancel.ts'
import { CLAIM } from '../../../src/messages/sending/attempt-rows.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { createWorld } from '../../support/world.ts'

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

test('a message that is cancelled just before its attempt is opened does not delay the next one', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const { gateway, tenantId } = world
  await world.untilStatus(await world.send({ body: 'earlier' }))
  gateway.quota.pause(world.control.extensions()[0]?.extensionId ?? '', 'medium', 1)
  const cancelled = await world.send({ body: 'cancelled' })
  const next = await world.send({ body: 'next' })
  const { writer } = gateway.database
  const row = writer.row.bind(writer)
  writer.row = async (operation, value) => {
    if (value['messageId'] === cancelled && Object.is(operation, CLAIM)) await cancel(gateway, { tenantId }, cancelled)
    return row(operation, value)
  }
  clock.advance(1)
  expect(await world.untilStatus(next)).toMatchObject({ status: 'sent' })
  expect(await world.status(cancelled)).toMatchObject({ status: 'failed', error: 'Cancelled before sending' })
  expect(world.control.messages({ direction: 'Outbound' }).map(({ text }) => text)).toEqual(['earlier', 'next'])
})
