import { expect, test } from 'bun:test'
import { newMessage } from '../../support/new-message.ts'
import { FROM, createWorld } from '../../support/world.ts'

test('only a part of a very long queue is in memory', async () => {
  await using world = await createWorld({ work: false })
  const { gateway, tenantId } = world
  const accept = (number: number) => gateway.sending.accept(newMessage(world, { body: String(number) }))
  for (let first = 0; first < 1000; first += 500)
    await Promise.all(Array.from({ length: 500 }, (_, number) => accept(first + number)))
  const queue = gateway.sending.scheduler.queues.getOrCreate(tenantId, FROM)
  expect(queue.waiting).toHaveLength(256)
})
