import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { expectError } from '../../support/expect-error.ts'
import { EXTENSION, inboundMessages, postEvent, smsEvent, subscribe } from '../../support/provider-events.ts'
import { type World, createWorld } from '../../support/world.ts'

const REFUSED = 'Invalid verification token'

async function storedRows(world: World): Promise<number> {
  const { rows } = await world.gateway.database.gate.execute(
    "SELECT (SELECT count(*) FROM messages) + (SELECT count(*) FROM jobs WHERE kind != 'back_fill') AS n",
  )
  return Number(rows[0]?.['n'])
}

describe('an event is refused and not stored if its token is', () => {
  const tokens: [string, string | null][] = [
    ['absent', null],
    ['empty', ''],
    ['wrong', 'wrong'],
    ['an API key', `sgw_${'a'.repeat(43)}`],
    ['too long', 'a'.repeat(513)],
    ['a hash instead of the token', 'f'.repeat(64)],
  ]
  for (const [name, token] of tokens) {
    test(name, async () => {
      await using world = await createWorld()
      await subscribe(world, { token: 'right' })
      await expectError(await postEvent(world, token, smsEvent()), 401, REFUSED)
      await expectError(await postEvent(world, token, '{broken'), 401, REFUSED)
      expect(await storedRows(world)).toBe(0)
    })
  }

  test("the stored hash, or another letter's case", async () => {
    await using world = await createWorld()
    await subscribe(world, { token: 'Right-Token' })
    const { rows } = await world.gateway.database.gate.execute('SELECT token_hash FROM subscriptions')
    for (const row of rows)
      await expectError(await postEvent(world, String(row['token_hash']), smsEvent()), 401, REFUSED)
    await expectError(await postEvent(world, 'right-token', smsEvent()), 401, REFUSED)
    expect(await storedRows(world)).toBe(0)
  })
})

test("another tenant's token is refused for this tenant's subscription or extension", async () => {
  await using world = await createWorld()
  const stranger = await world.otherTenant()
  await subscribe(world, { providerId: 'ours' })
  const theirs = await subscribe(world, { tenantId: stranger.tenantId, extensionId: '777', providerId: 'theirs' })
  await expectError(await postEvent(world, theirs, smsEvent({}, { subscriptionId: 'ours' })), 401, REFUSED)
  await expectError(
    await postEvent(world, theirs, smsEvent({}, { subscriptionId: 'ours', ownerId: '777' })),
    401,
    REFUSED,
  )
  await expectError(
    await postEvent(world, theirs, smsEvent({}, { subscriptionId: 'theirs', ownerId: EXTENSION })),
    401,
    REFUSED,
  )
  expect(await storedRows(world)).toBe(0)
  expect((await postEvent(world, theirs, smsEvent({}, { subscriptionId: 'theirs', ownerId: '777' }))).status).toBe(200)
  expect((await inboundMessages(world)).total).toBe(0)
  expect((await inboundMessages(world, { key: stranger.apiKey })).messages).toMatchObject([
    { tenantId: stranger.tenantId, receivingExtensionId: '777' },
  ])
})

test('with one extension in two tenants, each token stores messages for its own tenant', async () => {
  await using world = await createWorld()
  const stranger = await world.otherTenant()
  await world.connect({ tenantId: stranger.tenantId, extensionId: EXTENSION })
  const { deliveries } = await world.control.injectSms({ text: 'to both' })
  expect(deliveries.map((delivery) => delivery.status)).toEqual([200, 200])
  for (const key of [world.key, stranger.apiKey])
    expect((await inboundMessages(world, { key })).messages).toMatchObject([{ body: 'to both' }])
})

test('a refused token does not count as a failed authentication', async () => {
  await using world = await createWorld({ connect: false })
  for (let attempt = 0; attempt < 30; attempt++) expect((await postEvent(world, 'wrong', smsEvent())).status).toBe(401)
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
})

test('the token is checked before the body is read', async () => {
  await using world = await createWorld({ connect: false })
  const answer = await withoutBody(world, ['Verification-Token: wrong', 'Content-Length: 5000'])
  expect(answer).toStartWith('HTTP/1.1 401')
  await expectError(await postEvent(world, 'wrong', 'x'.repeat(200_000)), 401, REFUSED)
  const token = await subscribe(world)
  await expectError(await postEvent(world, token, 'x'.repeat(200_000)), 413, 'Payload too large')
  expect(await withoutBody(world, [`Verification-Token: ${token}`, 'Content-Length: 102401'])).toStartWith(
    'HTTP/1.1 413',
  )
})

test('a body of exactly 100 KB is read', async () => {
  await using world = await createWorld({ connect: false })
  const token = await subscribe(world)
  const padded = JSON.stringify(smsEvent({}, { padding: '' }))
  const body = padded.replace('"padding":""', `"padding":"${'x'.repeat(102_400 - padded.length)}"`)
  expect(body.length).toBe(102_400)
  expect((await postEvent(world, token, body)).status).toBe(200)
  expect((await inboundMessages(world)).total).toBe(1)
  await expectError(await postEvent(world, token, `${body} `), 413, 'Payload too large')
})

test('a broken body with a right token is 400 and stores nothing', async () => {
  await using world = await createWorld()
  const token = await subscribe(world)
  const broken = ['{', '{"event":', 'not json', '[1,]', '\u0000', '['.repeat(40) + ']'.repeat(40)]
  for (const body of broken) await expectError(await postEvent(world, token, body), 400, 'Invalid JSON')
  expect(await storedRows(world)).toBe(0)
})

test('the token of a replaced subscription is refused', async () => {
  await using world = await createWorld()
  const token = await subscribe(world, { providerId: 'old' })
  for (const { subscriptionId } of world.control.subscriptions()) world.control.deleteSubscription({ subscriptionId })
  expect(await world.gateway.subscriptions.ensure({ tenantId: world.tenantId, extensionId: EXTENSION })).toBe('created')
  await expectError(await postEvent(world, token, smsEvent()), 401, REFUSED)
})

/** Returns the answer to headers whose body never arrives. */
function withoutBody(world: World, headers: string[]): Promise<string> {
  const { hostname, port } = new URL(world.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`POST /v1/webhooks/provider HTTP/1.1\r\nHost: gateway\r\n${headers.join('\r\n')}\r\n\r\n`),
    )
    socket.setTimeout(2000, () => reject(new Error('No answer without the body')))
    socket.once('data', (bytes) => {
      resolve(bytes.toString())
      socket.destroy()
    })
    socket.on('error', reject)
  })
}
