import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { PNG, pngOf, uploaded } from '../../support/media.ts'
import { operate } from '../../support/operator.ts'
import { FROM, FROM_2, TO, type World, type WorldOptions, createWorld } from '../../support/world.ts'

const CONFLICT = 'Idempotency-Key was used with a different request'
const KEY = 'door-1'

const send = (world: World, message: object, key: string | null = KEY, apiKey = world.key): Promise<Response> =>
  world.call('POST', '/v1/sms/send', {
    key: apiKey,
    body: { from: FROM, to: TO, ...message },
    headers: key === null ? {} : { 'idempotency-key': key },
  })

const remove = async (world: World, mediaId: string): Promise<void> =>
  expect((await world.call('DELETE', `/v1/sms/media/${mediaId}`)).status).toBe(200)

async function expectReplay(answer: Response, messageId: string): Promise<void> {
  expect([answer.status, await answer.json()]).toEqual([202, { messageId, status: 'queued' }])
  expect(answer.headers.get('idempotent-replayed')).toBe('true')
}

/** A message with two files has been sent, and nobody got to know its answer. */
async function sentWorld(more: object = {}, options: WorldOptions = {}) {
  const world = await createWorld(options)
  const one = await uploaded(world, PNG)
  const two = await uploaded(world, pngOf(500), { name: 'b.png' })
  const message = { body: 'Look', userId: 'u', mediaIds: [one.mediaId, two.mediaId], ...more }
  const { messageId } = (await (await send(world, message)).json()) as { messageId: string }
  await world.untilStatus(messageId, ['sent'])
  return { world, message, messageId, one: one.mediaId, two: two.mediaId }
}

test('a repeated request gets the first answer again although its files were deleted, one or all', async () => {
  const { world, message, messageId, one, two } = await sentWorld()
  await using _ = world
  for (const mediaId of [one, two]) {
    await remove(world, mediaId)
    await expectReplay(await send(world, message), messageId)
  }
  await uploaded(world, PNG)
  await expectReplay(await send(world, message), messageId)
  expect(world.control.messages({ direction: 'Outbound' })).toHaveLength(1)
})

test('files that were uploaded again under other ids are compared by what they are', async () => {
  const { world, message, messageId, one, two } = await sentWorld()
  await using _ = world
  await remove(world, one)
  const again = await uploaded(world, PNG)
  expect(again.mediaId).not.toBe(one)
  await expectReplay(await send(world, { ...message, mediaIds: [again.mediaId, two] }), messageId)
})

test('with another field or other files the key is a conflict, also if the files were deleted', async () => {
  const { world, message, one, two } = await sentWorld()
  await using _ = world
  await remove(world, one)
  for (const change of [
    { body: 'Other' },
    { body: null },
    { to: '+15555550198' },
    { from: FROM_2 },
    { userId: 'v' },
    { userId: null },
    { sendAt: '2020-01-01T00:00:00Z' },
    { mediaIds: [two, one] },
    { mediaIds: [one] },
    { mediaIds: [one, 'media_000000000000'] },
  ])
    await expectError(await send(world, { ...message, ...change }), 409, CONFLICT)
})

test('without the key of this message, deleted files are unknown', async () => {
  const clock = manualClock()
  const { world, message, one } = await sentWorld({}, { clock })
  await using _ = world
  await remove(world, one)
  const second = await world.secondApp()
  await expectError(await send(world, message, null), 400, 'Media not found')
  await expectError(await send(world, message, 'door-2'), 400, 'Media not found')
  await expectError(await send(world, message, KEY, second.apiKey), 400, 'Media not found')
  expect((await send(world, { body: 'A text' }, 'text-1')).status).toBe(202)
  await expectError(await send(world, { ...message, body: 'A text' }, 'text-1'), 409, CONFLICT)
  clock.advance(24 * 3_600_000 + 1)
  await expectError(await send(world, message), 400, 'Media not found')
})

test('a sendAt that has passed since is still that of the first request', async () => {
  const sendAt = '2020-01-01T01:00:00+01:00'
  const { world, message, messageId, one } = await sentWorld({ sendAt })
  await using _ = world
  await remove(world, one)
  await expectReplay(await send(world, message), messageId)
  await expectReplay(await send(world, { ...message, sendAt: '2020-01-01T00:00:00Z' }), messageId)
  await expectError(await send(world, { ...message, sendAt: '2020-01-01T02:00:00Z' }), 409, CONFLICT)
  await expectError(await send(world, { ...message, sendAt: undefined }), 409, CONFLICT)
})

test('the key of an erased message with files is kept as that of a text', async () => {
  const { world, message, messageId } = await sentWorld()
  await using _ = world
  expect(await operate(world, 'POST', '/v1/operator/erase', { phone: TO, dryRun: false })).toMatchObject({
    status: 200,
  })
  await expectReplay(await send(world, message), messageId)
  await expectError(await send(world, { ...message, body: 'Other' }), 409, CONFLICT)
})
