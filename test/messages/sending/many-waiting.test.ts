import { expect, test } from 'bun:test'
import { createWorld } from '../../support/world.ts'

test('only a part of a very long queue is in memory', async () => {
  await using world = await createWorld({ work: false })
  const { gateway, app, tenantId } = world
  const accept = (number: number) =>
    gateway.sending.accept({
      messageId: gateway.ids.message(null),
      jobId: gateway.ids.of('job'),
      tenantId,
      appId: app.appId,
      userId: null,
      from: '+15555550100',
      to: '+15555550199',
      body: String(number),
      now: gateway.clock.now(),
      attachments: null,
      idempotencyKey: null,
      requestHash: null,
      keysExpiredBefore: 0,
      resentFrom: null,
    })
  for (let first = 0; first < 1000; first += 500)
    await Promise.all(Array.from({ length: 500 }, (_, number) => accept(first + number)))
  const queue = gateway.sending.scheduler.queues.getOrCreate(tenantId, '+15555550100')
  expect(queue.waiting).toHaveLength(256)
})
