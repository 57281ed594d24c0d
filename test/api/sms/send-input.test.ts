import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { FROM, TO, type World, createWorld } from '../../support/world.ts'

const REQUIRED = 'to, from, and body are required'
const E164 = 'to and from must be valid E.164 phone numbers'
const LENGTH = 'body must be 1-1600 characters'
const USER_ID = 'userId must be a string of at most 255 characters'

const quiet = (): Promise<World> => createWorld({ connect: false, work: false })
const send = (world: World, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  world.call('POST', '/v1/sms/send', { body, headers })
const sendWith = (world: World, change: object): Promise<Response> =>
  send(world, { from: FROM, to: TO, body: 'Hello', ...change })

async function expectNothingStored(world: World): Promise<void> {
  expect((await world.json('GET', '/v1/sms/messages')).body['total']).toBe(0)
}

test('to, from and body must be present and strings', async () => {
  await using world = await quiet()
  for (const field of ['to', 'from', 'body']) {
    for (const value of [undefined, null, 5, true, [], ['x'], {}])
      await expectError(await sendWith(world, { [field]: value }), 400, REQUIRED)
  }
  await expectNothingStored(world)
})

test('a missing field is reported before a bad number, and a bad number before a bad length', async () => {
  await using world = await quiet()
  await expectError(await sendWith(world, { to: 'nonsense', body: null }), 400, REQUIRED)
  await expectError(await sendWith(world, { from: 5, to: 'nonsense', body: '' }), 400, REQUIRED)
  await expectError(await sendWith(world, { to: 'nonsense', body: '' }), 400, E164)
  await expectError(await sendWith(world, { from: '', body: 'x'.repeat(1601) }), 400, E164)
  await expectError(await sendWith(world, { body: '', userId: 5 }), 400, LENGTH)
})

test('to and from must be E.164 and are not trimmed or corrected', async () => {
  await using world = await quiet()
  const bad = [
    '',
    '+',
    '15555550199',
    '+05555550199',
    '+12345678',
    '+1234567890123456',
    ' +15555550199',
    '+15555550199 ',
    '+1 555 555 0199',
    '+1-555-555-0199',
    '+1555555019x',
    '＋15555550199',
    '+١٥٥٥٥٥٥٠١٩٩',
    '+15555550199\n',
    '+15555550199\0',
    '00155555550199',
    'tel:+15555550199',
  ]
  for (const number of bad) {
    await expectError(await sendWith(world, { to: number }), 400, E164)
    await expectError(await sendWith(world, { from: number }), 400, E164)
  }
  await expectNothingStored(world)
})

test('numbers of 9 and of 15 digits are accepted', async () => {
  await using world = await quiet()
  for (const number of ['+123456789', '+1234567890', '+123456789012345'])
    expect((await sendWith(world, { to: number })).status).toBe(202)
})

test('the body has 1 to 1600 UTF-16 units, including blanks', async () => {
  await using world = await quiet()
  for (const body of ['x', ' ', '\n', 'x'.repeat(1600), '😀'.repeat(800), 'é'.repeat(1600)]) {
    expect((await sendWith(world, { body })).status).toBe(202)
  }
  for (const body of ['', 'x'.repeat(1601), `${'😀'.repeat(800)}x`])
    await expectError(await sendWith(world, { body }), 400, LENGTH)
})

test('a text with NUL or a lone surrogate is refused, because it could not be stored unchanged', async () => {
  await using world = await quiet()
  const raw = (text: string): string => `{"to":"${TO}","from":"${FROM}","body":"${text}"}`
  for (const text of ['a\\u0000b', '\\ud800', 'x\\udc00y']) await expectError(await send(world, raw(text)), 400, LENGTH)
  await expectNothingStored(world)
})

test('a text reaches the provider unchanged', async () => {
  await using world = await createWorld()
  const text = ' “Grüße” \t\r\n 😀🏳️‍🌈 \u202e ‹b› <b>&amp; \\ " \u0001 \u00a0 '
  await world.untilStatus(await world.send({ body: text }), ['sent'])
  expect(world.control.messages({ direction: 'Outbound' }).map((message) => message.text)).toEqual([text])
})

test('a text that is too long for the provider is accepted, sent as one message, and fails with the provider’s words', async () => {
  await using world = await createWorld()
  const id = await world.send({ body: 'x'.repeat(1001) })
  const state = await world.untilStatus(id)
  expect(state['status']).toBe('failed')
  expect(state['error']).toMatch(/^Provider rejected the message: .+ \([A-Z]+-\d+\)$/)
  expect(world.control.requests({ route: 'sms' })).toHaveLength(1)
})

test('userId is a string of at most 255 characters; empty and null are stored as null', async () => {
  await using world = await quiet()
  for (const userId of [5, true, [], Array(101).fill('u'), {}, 'x'.repeat(256)])
    await expectError(await sendWith(world, { userId }), 400, USER_ID)
  const given = ['u', 'x'.repeat(255), '', null, undefined]
  for (const userId of given) expect((await sendWith(world, { userId })).status).toBe(202)
  const { body } = await world.json<{ messages: { userId: unknown }[] }>('GET', '/v1/sms/messages')
  expect(body.messages.map((message) => message.userId)).toEqual([null, null, null, 'x'.repeat(255), 'u'])
})

test('unknown fields are ignored, also with hostile names', async () => {
  await using world = await quiet()
  const text = `{"to":"${TO}","from":"${FROM}","body":"Hi","status":"sent","tenantId":"x","__proto__":{"userId":"evil"},"constructor":1}`
  expect((await send(world, text)).status).toBe(202)
  const { body } = await world.json<{ messages: Record<string, unknown>[] }>('GET', '/v1/sms/messages')
  expect(body.messages[0]).toMatchObject({ status: 'queued', userId: null, tenantId: world.tenantId })
  expect(({} as { userId?: string }).userId).toBeUndefined()
})

test('a JSON body that is not an object counts as one without fields, and so does an empty body', async () => {
  await using world = await quiet()
  for (const body of ['[]', '"text"', '5', 'true', 'null', '{}', '[{"to":"x"}]'])
    await expectError(await send(world, body), 400, REQUIRED)
  await expectError(await world.call('POST', '/v1/sms/send'), 400, REQUIRED)
})

test('broken JSON is 400 Invalid JSON with any Content-Type', async () => {
  await using world = await quiet()
  for (const type of [
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'nonsense',
  ]) {
    for (const body of ['{', '{"to":}', 'to=1&from=2', '{"to":"x",}', "{'to':1}", '\u0000', '{} {}']) {
      await expectError(await send(world, body, { 'content-type': type }), 400, 'Invalid JSON')
    }
  }
  await expectNothingStored(world)
})

test('valid JSON is accepted with any Content-Type', async () => {
  await using world = await quiet()
  for (const type of [
    'Application/JSON',
    'application/vnd.x+json',
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
  ]) {
    expect((await send(world, { from: FROM, to: TO, body: 'Hi' }, { 'content-type': type })).status).toBe(202)
  }
})

test('deeply nested JSON is refused quickly', async () => {
  await using world = await quiet()
  const started = performance.now()
  await expectError(await send(world, '['.repeat(50_000) + ']'.repeat(50_000)), 400, 'Invalid JSON')
  await expectError(await send(world, `{"a":${'{"a":'.repeat(16_000)}1${'}'.repeat(16_000)}}`), 400, 'Invalid JSON')
  expect(performance.now() - started).toBeLessThan(4000)
})

test('a body has up to 4,000 members, wherever they stand', async () => {
  await using world = await quiet()
  const members = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, 1]))
  const body = { from: FROM, to: TO, body: 'Hi' }
  const objects = (count: number): object[] => Array.from({ length: count / 2 }, (_, n) => ({ [`x${n}`]: 1, y: 2 }))
  for (const accepted of [members(3997), { list: objects(3996) }, { text: ':'.repeat(50_000) }]) {
    expect((await send(world, { ...body, ...accepted })).status).toBe(202)
  }
  for (const refused of [members(3998), { list: objects(3998) }, { within: members(3997) }]) {
    await expectError(await send(world, { ...body, ...refused }), 400, 'Invalid JSON')
  }
})

test('bytes that are not UTF-8 are refused', async () => {
  await using world = await quiet()
  const bytes = new Uint8Array([
    ...new TextEncoder().encode(`{"to":"${TO}","from":"${FROM}","body":"`),
    0xff,
    0xfe,
    0x22,
    0x7d,
  ])
  const response = await fetch(`${world.url}/v1/sms/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.key}` },
    body: bytes,
  })
  await expectError(response, 400, 'Invalid JSON')
})

test('a 202 has exactly messageId and status, and no Location header', async () => {
  await using world = await quiet()
  const response = await sendWith(world, {})
  expect(response.status).toBe(202)
  expect(await response.json()).toEqual({ messageId: expect.stringMatching(/^msg_[0-9a-f]{12}$/), status: 'queued' })
})
