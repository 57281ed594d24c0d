import { expect, test } from 'bun:test'
import { holdCalls } from '../../support/held-calls.ts'
import { newMessage } from '../../support/new-message.ts'
import { createWorld } from '../../support/world.ts'

test('a new message that draws the id of a message under way does not affect it', async () => {
  await using world = await createWorld()
  await world.untilStatus(await world.send({ body: 'so that everything is known' }))
  const release = holdCalls(world, 'sendSms')
  const messageId = await world.send({ body: 'under way' })
  await world.untilStatus(messageId, ['sending'])
  const drawn = newMessage(world, { messageId, to: '+15555550198', body: 'drawn' })
  expect(await world.gateway.sending.accept(drawn).catch(String)).toContain('UNIQUE')
  release()
  expect(await world.untilStatus(messageId)).toMatchObject({ status: 'sent' })
  const sent = world.control.messages({ direction: 'Outbound' }).filter(({ text }) => text === 'under way')
  expect(sent).toHaveLength(1)
})
