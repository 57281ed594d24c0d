import { expect, test } from 'bun:test'
import { holdCalls } from '../../support/held-calls.ts'
import { FROM, createWorld } from '../../support/world.ts'

test('a new message that draws the id of a message under way does not affect it', async () => {
  await using world = await createWorld()
  const { gateway, app, tenantId } = world
  await world.untilStatus(await world.send({ body: 'so that everything is known' }))
  const release = holdCalls(world, 'sendSms')
  const messageId = await world.send({ body: 'under way' })
  await world.untilStatus(messageId, ['sending'])
  const drawn = {
    messageId,
    jobId: gateway.ids.of('job'),
    tenantId,
    appId: app.appId,
    userId: null,
    from: FROM,
    to: '+15555550198',
    body: 'drawn',
    now: gateway.clock.now(),
    attachments: null,
    idempotencyKey: null,
    requestHash: null,
    keysExpiredBefore: 0,
    resentFrom: null,
  }
  expect(await gateway.sending.accept(drawn).catch(String)).toContain('UNIQUE')
  release()
  expect(await world.untilStatus(messageId)).toMatchObject({ status: 'sent' })
  const sent = world.control.messages({ direction: 'Outbound' }).filter(({ text }) => text === 'under way')
  expect(sent).toHaveLength(1)
})
