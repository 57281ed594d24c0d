import { expect, test } from 'bun:test'
import { FROM, TO, createWorld } from '../../support/world.ts'

test('a message is accepted and sent once, and its id gives its status', async () => {
  await using world = await createWorld()
  const accepted = await world.json('POST', '/v1/sms/send', {
    body: { from: FROM, to: TO, body: 'Hello', userId: 'user-1' },
  })
  expect(accepted.status).toBe(202)
  expect(Object.keys(accepted.body)).toEqual(['messageId', 'status'])
  expect(accepted.body['status']).toBe('queued')
  expect(accepted.body['messageId']).toMatch(/^msg_[0-9a-f]{12}$/)
  const state = await world.untilStatus(String(accepted.body['messageId']))
  expect(state['status']).toBe('sent')
  const [stored, ...others] = world.control.messages({ direction: 'Outbound' })
  expect(others).toEqual([])
  expect(stored?.text).toBe('Hello')
  expect(state['rcMessageId']).toBe(stored?.messageId ?? '')
})

test('50 simultaneous requests are all accepted, and each message is sent exactly once', async () => {
  await using world = await createWorld({ env: { FROM_LIMIT_PER_MINUTE: '1000', EXTENSION_LIMIT_PER_MINUTE: '1000' } })
  world.control.setLimits({ enabled: false })
  const ids = await Promise.all(Array.from({ length: 50 }, (_, index) => world.send({ body: `Hello ${index}` })))
  for (const id of ids) expect((await world.untilStatus(id))['status']).toBe('sent')
  const texts = world.control.messages({ direction: 'Outbound' }).map((message) => message.text)
  expect(texts.toSorted()).toEqual(Array.from({ length: 50 }, (_, index) => `Hello ${index}`).toSorted())
})
