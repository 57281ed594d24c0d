import { expect, test } from 'bun:test'
import { inboundMessages, postEvent, smsEvent, subscribe } from '../../support/provider-events.ts'
import { type World, createWorld } from '../../support/world.ts'

/** Stores these SMS of the provider and returns their message ids in order. */
async function idsOf(world: World, token: string, providerIds: readonly (string | number)[]): Promise<string[]> {
  for (const id of providerIds) expect((await postEvent(world, token, smsEvent({ id }))).status).toBe(200)
  const { messages } = await inboundMessages(world)
  const byProviderId = new Map(messages.map(({ rcMessageId, messageId }) => [rcMessageId, messageId]))
  return providerIds.map((id) => byProviderId.get(String(id)) ?? '')
}

const FORMS = ['3062991599016', 0, '007', '12345678901234567890', 'ac3e8a1c-7f5e-4d43-b8d8-0d1f21f1a3c5']

test('an SMS that arrives again after it was lost gets its old id, for any form of the provider’s id', async () => {
  await using world = await createWorld()
  const token = await subscribe(world)
  const before = await idsOf(world, token, FORMS)
  expect(new Set(before).size).toBe(FORMS.length)
  for (const id of before) expect(id).toMatch(/^msg_[0-9a-f]{12}$/)
  await world.gateway.database.gate.execute('DELETE FROM messages')
  expect(await idsOf(world, token, FORMS)).toEqual(before)
})

test('consecutive ids of the provider lead to consecutive message ids', async () => {
  await using world = await createWorld()
  const ids = await idsOf(world, await subscribe(world), [3062991599016, 3062991599017, 3062991599300, 3062991700000])
  expect(ids).toEqual(ids.toSorted())
  expect(new Set(ids.map((id) => id.slice(0, 10))).size).toBe(1)
})

test('an SMS whose id belongs to another message gets another id, and is still stored once', async () => {
  await using world = await createWorld()
  const token = await subscribe(world)
  const { gate } = world.gateway.database
  const [wanted = ''] = await idsOf(world, token, ['3062991599016'])
  await gate.execute('DELETE FROM messages')
  const [other = ''] = await idsOf(world, token, ['42'])
  await gate.execute({ sql: 'UPDATE messages SET id = ?1 WHERE id = ?2', args: [wanted, other] })
  const [instead = ''] = await idsOf(world, token, ['3062991599016'])
  expect(instead).toMatch(/^msg_[0-9a-f]{12}$/)
  expect(instead).not.toBe(wanted)
  expect(await idsOf(world, token, ['3062991599016'])).toEqual([instead])
  expect((await inboundMessages(world)).messages).toHaveLength(2)
})
