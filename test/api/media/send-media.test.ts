import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { PNG, media, pngOf, storedBytes, uploaded } from '../../support/media.ts'
import { FROM, TO, type World, type WorldOptions, createWorld, until } from '../../support/world.ts'

const DAY_MS = 24 * 3_600_000
const quiet = (options: WorldOptions = {}): Promise<World> => createWorld({ connect: false, work: false, ...options })

const post = (world: World, message: object, headers: Record<string, string> = {}): Promise<Response> =>
  world.call('POST', '/v1/sms/send', { body: { from: FROM, to: TO, ...message }, headers })

async function accepted(world: World, message: object, headers: Record<string, string> = {}): Promise<string> {
  const answer = await post(world, message, headers)
  const body = (await answer.json()) as { messageId: string; error?: string }
  expect([answer.status, body.error]).toEqual([202, undefined])
  return body.messageId
}

const attachmentsOf = async (world: World, messageId: string): Promise<object[]> =>
  (await world.json<{ attachments: object[] }>('GET', `/v1/sms/${messageId}/attachments`)).body.attachments

test('a send names uploaded files, with any text up to 1,000 characters or without one', async () => {
  await using world = await quiet()
  const first = await uploaded(world, PNG, { name: 'a.png' })
  const second = await uploaded(world, 'BEGIN:VCARD', { type: 'text/vcard' })
  const mediaIds = [second.mediaId, first.mediaId]
  const texts: [object, string][] = [
    [{ body: 'Look' }, 'Look'],
    [{ body: 'x'.repeat(1000) }, 'x'.repeat(1000)],
    [{ body: '' }, ''],
    [{ body: null }, ''],
    [{}, ''],
  ]
  for (const [body, stored] of texts) {
    const messageId = await accepted(world, { ...body, mediaIds })
    expect((await world.status(messageId))['body']).toBe(stored)
    expect(await attachmentsOf(world, messageId)).toEqual([
      { attachmentId: second.mediaId, contentType: 'text/vcard', size: 11, fileName: null },
      { attachmentId: first.mediaId, contentType: 'image/png', size: PNG.length, fileName: 'a.png' },
    ])
  }
})

test('a send without media is what it was, also if mediaIds is null', async () => {
  await using world = await quiet()
  expect(await attachmentsOf(world, await accepted(world, { body: 'Hi', mediaIds: null }))).toEqual([])
  for (const body of [{}, { body: '' }, { body: null }, { mediaIds: null }, { body: '', mediaIds: null }]) {
    const isMissing = (body as { body?: unknown }).body !== ''
    const text = isMissing ? 'to, from, and body are required' : 'body must be 1-1600 characters'
    await expectError(await post(world, body), 400, text)
  }
})

test('bad media and texts are refused, and nothing is stored', async () => {
  const clock = manualClock()
  await using world = await quiet({ clock })
  const other = await world.otherTenant()
  const { mediaId: foreign } = await uploaded(world, PNG, { key: other.apiKey })
  const { mediaId: old } = await uploaded(world, PNG)
  clock.advance(DAY_MS)
  const ids: string[] = []
  for (let seed = 0; seed < 11; seed++) ids.push((await uploaded(world, pngOf(136_364, seed))).mediaId)
  const [one = ''] = ids
  for (const mediaIds of [[], ids, [one, one], [1], [null], 'x', one, 7, true, {}, [[one]], ['', ''], ids.concat(ids)])
    await expectError(await post(world, { body: 'Hi', mediaIds }), 400, 'Invalid mediaIds')
  const [large] = [await uploaded(world, pngOf(1_499_999, 20))]
  await expectError(
    await post(world, { body: 'Hi', mediaIds: [large?.mediaId, (await uploaded(world, PNG)).mediaId] }),
    400,
    'Invalid mediaIds',
  )
  for (const unknown of ['media_000000000000', 'media_', '', '../x', 'x'.repeat(10_000), foreign, '\0'])
    await expectError(await post(world, { body: 'Hi', mediaIds: [one, unknown] }), 400, 'Media not found')
  expect(old).toMatch(/^media_/)
  for (const body of ['x'.repeat(1001), 'a\0b', '\ud800', 5, {}, []])
    await expectError(await post(world, { body, mediaIds: [one] }), 400, 'body must be 1-1000 characters with media')
  await expectError(await post(world, { to: 5, body: 1, mediaIds: 2 }), 400, 'to, from, and body are required')
  await expectError(
    await post(world, { to: 'x', body: 1, mediaIds: 2 }),
    400,
    'to and from must be valid E.164 phone numbers',
  )
  const { rows } = await world.gateway.database.gate.execute(
    'SELECT (SELECT count(*) FROM messages) + (SELECT count(*) FROM media_uses) AS n',
  )
  expect(rows[0]?.['n']).toBe(0)
})

test('expired media is refused', async () => {
  const clock = manualClock()
  await using world = await quiet({ clock })
  const { mediaId } = await uploaded(world, PNG)
  clock.advance(DAY_MS)
  await expectError(await post(world, { mediaIds: [mediaId] }), 400, 'Media not found')
})

test('a repeated key compares what the files are, and their order', async () => {
  await using world = await quiet()
  const key = { 'idempotency-key': 'door-1' }
  const one = await uploaded(world, PNG, { name: 'a.png' })
  const two = await uploaded(world, pngOf(500), { name: 'a.png' })
  const mediaIds = [one.mediaId, two.mediaId]
  const messageId = await accepted(world, { mediaIds }, key)
  expect(await accepted(world, { mediaIds, body: '' }, key)).toBe(messageId)
  const conflict = 'Idempotency-Key was used with a different request'
  await expectError(await post(world, { mediaIds: mediaIds.toReversed() }, key), 409, conflict)
  await expectError(await post(world, { mediaIds: [one.mediaId] }, key), 409, conflict)
  await expectError(await post(world, { body: 'Hi' }, key), 409, conflict)
  const renamed = await uploaded(world, PNG, { name: 'b.png' })
  await expectError(await post(world, { mediaIds: [renamed.mediaId, two.mediaId] }, key), 409, conflict)
  const { rows } = await world.gateway.database.gate.execute('SELECT count(*) AS n FROM messages')
  expect(rows[0]?.['n']).toBe(1)
})

test('the same key twenty times at once with media stores one message', async () => {
  await using world = await quiet()
  const { mediaId } = await uploaded(world, PNG)
  const ids = await Promise.all(
    Array.from({ length: 20 }, () => accepted(world, { mediaIds: [mediaId] }, { 'idempotency-key': 'k' })),
  )
  expect(new Set(ids).size).toBe(1)
})

test('media of a message that waits stays, and is gone 24 hours after the message has ended', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock, env: { MAX_QUEUE_AGE: '30d' } })
  const { mediaId } = await uploaded(world, PNG)
  const sendAt = new Date(clock.now() + 5 * DAY_MS).toISOString()
  const messageId = await accepted(world, { mediaIds: [mediaId], sendAt })
  for (let day = 0; day < 4; day++) {
    clock.advance(DAY_MS)
    await Bun.sleep(20)
  }
  const shown = (await (await media(world, mediaId)).json()) as { expiresAt: string }
  expect(Date.parse(shown.expiresAt)).toBe(clock.now() + DAY_MS)
  await expectError(await world.call('DELETE', `/v1/sms/media/${mediaId}`), 409, 'Media is in use')
  expect((await world.call('DELETE', `/v1/sms/${messageId}`)).status).toBe(200)
  const endedAt = clock.now()
  expect(Date.parse(((await (await media(world, mediaId)).json()) as { expiresAt: string }).expiresAt)).toBe(
    endedAt + DAY_MS,
  )
  clock.advance(DAY_MS - 1)
  expect((await media(world, mediaId)).status).toBe(200)
  clock.advance(1)
  expect((await media(world, mediaId)).status).toBe(404)
  await until(async () => {
    clock.advance(60_000)
    return (await storedBytes(world)).media === 0 ? true : null
  })
  expect(await attachmentsOf(world, messageId)).toHaveLength(1)
})

test('media whose messages have ended can be deleted, and then not be sent', async () => {
  await using world = await createWorld()
  const { mediaId } = await uploaded(world, PNG)
  const messageId = await accepted(world, { mediaIds: [mediaId] })
  await world.untilStatus(messageId)
  expect((await world.call('DELETE', `/v1/sms/media/${mediaId}`)).status).toBe(200)
  await expectError(await post(world, { mediaIds: [mediaId] }), 400, 'Media not found')
  expect(await storedBytes(world)).toEqual({ media: 0, pieces: 0, bytes: 0 })
})

test('a deletion and twenty sends at once: each message that is accepted keeps its media', async () => {
  await using world = await quiet()
  for (let round = 0; round < 10; round++) {
    const { mediaId } = await uploaded(world, pngOf(1000, round))
    const sends = Array.from({ length: 10 }, () => post(world, { mediaIds: [mediaId] }))
    const deleting = world.call('DELETE', `/v1/sms/media/${mediaId}`)
    const more = Array.from({ length: 10 }, () =>
      post(world, { mediaIds: [mediaId] }, { 'idempotency-key': `${round}` }),
    )
    const statuses = (await Promise.all([...sends, ...more])).map(({ status }) => status)
    const { status } = await deleting
    expect(status === 200 ? statuses.includes(202) : status !== 409).toBe(false)
  }
  const { rows } = await world.gateway.database.gate.execute(
    `SELECT count(*) AS n FROM messages, json_each(messages.attachments) AS carried
      WHERE NOT EXISTS (SELECT 1 FROM media WHERE media.id = carried.value ->> 'attachmentId')`,
  )
  expect(rows[0]?.['n']).toBe(0)
})
