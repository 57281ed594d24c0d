import { expect, test } from 'bun:test'
import { CLAIM } from '../../../src/messages/sending/attempt-rows.ts'
import { createWorld, until } from '../../support/world.ts'

test('a message that could begin with its commit waits for an earlier one whose attempt is being opened', async () => {
  await using world = await createWorld()
  const { gateway } = world
  // The gateway now knows everything about the tenant.
  await world.untilStatus(await world.send({ body: 'earlier' }), ['sent'])
  const { writer } = gateway.database
  const row = writer.row.bind(writer)
  const opening = Promise.withResolvers<void>()
  let claims = 0
  writer.row = async (operation, value) => {
    if (Object.is(operation, CLAIM)) {
      claims++
      await opening.promise
    }
    return row(operation, value)
  }
  gateway.quota.pause(world.control.extensions()[0]?.extensionId ?? '', 'medium', 20)
  const first = await world.send({ body: 'first', to: '+15555550198' })
  await until(() => claims > 0)
  // Waits until the scheduler has seen that no other message of the queue waits.
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  const second = await world.send({ body: 'second' })
  opening.resolve()
  for (const id of [first, second]) await world.untilStatus(id, ['sent'])
  const sent = world.control.messages({ direction: 'Outbound' }).map(({ text }) => text)
  expect(sent).toEqual(['earlier', 'first', 'second'])
})
