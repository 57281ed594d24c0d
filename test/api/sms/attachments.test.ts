import { describe, expect, test } from 'bun:test'
import { Sgw } from '../../../src/client/client.ts'
import type { MediaSpec } from '../../../src/simulator/inbound.ts'
import { expectError } from '../../support/expect-error.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { operate } from '../../support/operator.ts'
import { startReceiver } from '../../support/receiver.ts'
import { FROM, TO, type World, createWorld, recordedLog, until } from '../../support/world.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const PICTURE: MediaSpec = { contentType: 'image/png', fileName: 'dot.png', data: PNG.toString('base64') }
const GAVE_NONE = 'The provider did not give the attachment'

/** Makes an MMS; returns the id of its message. */
async function receive(world: World, attachments: MediaSpec[], text: string | null = 'Look'): Promise<string> {
  const { messageId } = await world.control.injectSms({ from: TO, to: FROM, text, attachments })
  return idOf(world, messageId)
}

const idOf = (world: World, rcMessageId: string): Promise<string> =>
  until(async () => {
    const { body } = await world.json<{ messages: { messageId: string; rcMessageId: string }[] }>(
      'GET',
      '/v1/sms/messages',
    )
    return body.messages.find((message) => message.rcMessageId === rcMessageId)?.messageId
  })

interface Listed {
  attachmentId: string
  contentType: string
  size: number | null
  fileName: string | null
}

const listed = async (world: World, messageId: string): Promise<Listed[]> =>
  (await world.json<{ attachments: Listed[] }>('GET', `/v1/sms/${messageId}/attachments`)).body.attachments

async function fetched(world: World, messageId: string): Promise<Response> {
  const [first] = await listed(world, messageId)
  return world.call('GET', `/v1/sms/${messageId}/attachments/${first?.attachmentId}`)
}

test('an MMS is stored with its text, and what came with it is announced and fetched', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
  const messageId = await receive(world, [PICTURE, { contentType: 'video/mp4', size: 3 }])
  const attachments = await listed(world, messageId)
  expect(attachments).toEqual([
    { attachmentId: expect.stringMatching(/^\d+$/), contentType: 'image/png', size: PNG.length, fileName: 'dot.png' },
    { attachmentId: expect.stringMatching(/^\d+$/), contentType: 'video/mp4', size: 3, fileName: null },
  ] as never)
  const answer = await fetched(world, messageId)
  expect([answer.status, Buffer.from(await answer.arrayBuffer())]).toEqual([200, PNG])
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-disposition': 'attachment',
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-store',
    'x-request-id': expect.stringMatching(/^req_/) as string,
    ratelimit: expect.stringContaining('"key"') as string,
  })
  const { body } = await world.json<{ messages: object[] }>('GET', '/v1/sms/messages?include=delivery')
  expect(body.messages).toMatchObject([{ messageId, body: 'Look', attachments: 2 }])
  const timeline = await world.json<{ entries: object[] }>('GET', `/v1/sms/${messageId}/timeline`)
  expect(timeline.body.entries[0]).toMatchObject({ type: 'received', attachments: 2 })
  const conversations = async (query: string) =>
    (await world.json<{ conversations: object[] }>('GET', `/v1/conversations${query}`)).body.conversations[0]
  expect(await conversations('?include=delivery')).toMatchObject({ lastMessage: { attachments: 2 } })
  expect(await conversations('')).not.toHaveProperty('lastMessage.attachments')
  const [posted] = await receiver.received(1)
  expect(posted?.headers['x-gateway-attachments']).toBe('2')
  expect(JSON.stringify(posted?.body)).not.toContain('ttachment')
})

test('a message without anything is as ever: no header, an empty list, a count of 0; the text of a record is no attachment', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
  const inbound = await receive(world, [])
  const outbound = await world.send()
  expect(await listed(world, inbound)).toEqual([])
  expect(await listed(world, outbound)).toEqual([])
  const [posted] = await receiver.received(1)
  expect('x-gateway-attachments' in (posted?.headers ?? {})).toBe(false)
  const empty = await receive(world, [PICTURE], null)
  expect([(await world.status(empty))['body'], (await listed(world, empty)).length]).toEqual(['', 1])
  const { rows } = await world.gateway.database.gate.execute(
    'SELECT count(*) AS n FROM messages WHERE attachments IS NOT NULL',
  )
  expect(rows[0]?.['n']).toBe(1)
})

test('a keyword with a picture opts out and keeps the picture; a back-fill brings pictures, too', async () => {
  const clock = manualClock()
  await using world = await createWorld({ clock })
  const stop = await receive(world, [PICTURE], 'STOP')
  expect(await listed(world, stop)).toHaveLength(1)
  expect((await world.json('GET', '/v1/opt-outs')).body['total']).toBe(1)
  const missed = await world.control.injectSms({ from: TO, to: FROM, attachments: [PICTURE], deliver: false })
  const messageId = await until(async () => {
    clock.advance(60_000)
    const { body } = await world.json<{ messages: Record<string, string>[] }>('GET', '/v1/sms/messages')
    return body.messages.find((message) => message['rcMessageId'] === missed.messageId)?.['messageId']
  })
  expect(await listed(world, messageId)).toMatchObject([{ contentType: 'image/png', fileName: 'dot.png' }])
  expect((await fetched(world, messageId)).status).toBe(200)
})

test('the client lists and fetches attachments', async () => {
  await using world = await createWorld()
  const messageId = await receive(world, [PICTURE])
  const sgw = new Sgw({ baseUrl: world.url, apiKey: world.key })
  const [attachment] = await sgw.sms.attachments(messageId)
  const blob = await sgw.sms.attachment(messageId, attachment?.attachmentId ?? '')
  expect([blob.type, Buffer.from(await blob.arrayBuffer())]).toEqual(['image/png', PNG])
  expect(await sgw.sms.attachment(messageId, '1').catch(String)).toBe('SgwError: Attachment not found')
})

test('a foreign message, an unknown attachment and a malformed id are refused', async () => {
  await using world = await createWorld()
  const other = await world.otherTenant()
  const messageId = await receive(world, [PICTURE])
  const [{ attachmentId } = { attachmentId: '' }] = await listed(world, messageId)
  const ask = (path: string, key = world.key) => world.call('GET', `/v1/sms/${path}`, { key })
  await expectError(await ask(`${messageId}/attachments`, other.apiKey), 404, 'Message not found')
  await expectError(await ask(`${messageId}/attachments/${attachmentId}`, other.apiKey), 404, 'Message not found')
  for (const unknown of ['1', '__proto__', '..%2f1', '%00', 'x'.repeat(500)])
    await expectError(await ask(`${messageId}/attachments/${unknown}`), 404, 'Attachment not found')
  await expectError(await ask('msg_1/attachments'), 400, 'Invalid messageId format')
  await expectError(await ask('msg_1/attachments/1'), 400, 'Invalid messageId format')
  await expectError(await ask('msg_0123456789ab/attachments/1'), 404, 'Message not found')
})

test.each([
  ['image/svg+xml', 'application/octet-stream'],
  ['image/svg', 'application/octet-stream'],
  ['IMAGE/SVG+XML; charset=utf-8', 'application/octet-stream'],
  ['text/html', 'application/octet-stream'],
  ['application/xhtml+xml', 'application/octet-stream'],
  ['text/javascript', 'application/octet-stream'],
  ['image/x, text/html', 'application/octet-stream'],
  ['Image/JPEG; name=x', 'image/jpeg'],
  ['audio/amr', 'audio/amr'],
  ['video/3gpp', 'video/3gpp'],
  ['application/pdf', 'application/pdf'],
  ['text/x-vcard', 'text/x-vcard'],
  ['text/vcard', 'text/vcard'],
])('what comes as %p is passed on as %p', async (contentType, shown) => {
  await using world = await createWorld()
  const answer = await fetched(world, await receive(world, [{ contentType, data: btoa('<svg onload=alert(1)>') }]))
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, shown])
  expect(answer.headers.get('content-disposition')).toBe('attachment')
  await answer.text()
})

test.each(['', 'nonsense', 'image/png, text/html'])(
  'what the provider serves as %p is passed on as octet-stream, although its record says image/png',
  async (contentType) => {
    await using world = await createWorld()
    const messageId = await receive(world, [PICTURE])
    const served = { kind: 'respond', status: 200, body: 'abc', headers: { 'Content-Type': contentType } } as const
    world.control.fault({ route: 'content', fault: served })
    const answer = await fetched(world, messageId)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/octet-stream'])
    expect(await answer.text()).toBe('abc')
    expect(await listed(world, messageId)).toMatchObject([{ contentType: 'image/png' }])
  },
)

test('a 204 and an empty answer are a 502, but a file of 0 bytes is one', async () => {
  await using world = await createWorld()
  const messageId = await receive(world, [PICTURE])
  for (const status of [204, 200]) {
    world.control.fault({ route: 'content', fault: { kind: 'respond', status, body: '' } })
    await expectError(await fetched(world, messageId), 502, GAVE_NONE)
  }
  expect((await fetched(world, messageId)).status).toBe(200)
  const answer = await fetched(world, await receive(world, [{ contentType: 'text/vcard', size: 0 }]))
  expect([answer.status, answer.headers.get('content-type'), (await answer.bytes()).length]).toEqual([
    200,
    'text/vcard',
    0,
  ])
})

test('an attachment of an extension that is disconnected or revoked, or that the provider refuses, is a 502', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ log })
  const messageId = await receive(world, [PICTURE])
  for (const status of [302, 403, 404, 500, 503]) {
    world.control.fault({
      route: 'content',
      fault: { kind: 'respond', status, headers: { Location: 'http://127.0.0.1:9/' } },
    })
    await expectError(await fetched(world, messageId), 502, GAVE_NONE)
  }
  expect(lines.filter((line) => line.includes('an attachment could not be read'))).not.toEqual([])
  expect(lines.filter((line) => /Bearer|127\.0\.0\.1:9/.test(line))).toEqual([])
  expect((await fetched(world, messageId)).status).toBe(200)
  await world.call('POST', '/v1/rc/disconnect')
  await expectError(await fetched(world, messageId), 502, GAVE_NONE)
  expect(await listed(world, messageId)).toHaveLength(1)
})

test('an expired token is renewed, and a 429 pauses attachments alone', async () => {
  await using world = await createWorld()
  const messageId = await receive(world, [PICTURE])
  const [extension] = world.control.extensions()
  world.control.expireTokens({ extensionId: extension?.extensionId ?? '' })
  expect((await fetched(world, messageId)).status).toBe(200)
  world.control.fault({ route: 'content', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '60' } } })
  await expectError(await fetched(world, messageId), 502, GAVE_NONE)
  const asked = world.control.requests({ route: 'content' }).length
  await expectError(await fetched(world, messageId), 502, GAVE_NONE)
  expect(world.control.requests({ route: 'content' })).toHaveLength(asked)
  expect((await world.untilStatus(await world.send()))['status']).toBe('sent')
})

test('nothing remains of the attachments of an erased message', async () => {
  await using world = await createWorld()
  const messageId = await receive(world, [{ ...PICTURE, fileName: 'canary-file.png' }])
  const { gate } = world.gateway.database
  const kept = async (): Promise<string> => {
    const { rows } = await gate.execute(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    const tables = await Promise.all(rows.map(({ name }) => gate.execute(`SELECT * FROM "${String(name)}"`)))
    return JSON.stringify(tables.map((table) => table.rows))
  }
  expect(await kept()).toContain('canary-file.png')
  expect((await operate(world, 'POST', '/v1/operator/erase', { phone: TO })).status).toBe(200)
  expect(await kept()).not.toContain('canary-file.png')
  await expectError(await world.call('GET', `/v1/sms/${messageId}/attachments`), 404, 'Message not found')
})

test('a provider that hangs, sends 10 MB or breaks off makes no hang: a 502, or a body that ends with an error', async () => {
  await using world = await createWorld({ env: { PROVIDER_TIMEOUT: '1s' } })
  const messageId = await receive(world, [PICTURE])
  world.control.fault({ route: 'content', fault: { kind: 'hang' } })
  await expectError(await fetched(world, messageId), 502, GAVE_NONE)
  world.control.fault({ route: 'content', fault: { kind: 'drip-headers', ms: 500 } })
  await expectError(await fetched(world, messageId), 502, GAVE_NONE)
  await expectError(
    await fetched(world, await receive(world, [{ contentType: 'image/png', size: 10_000_000 }])),
    502,
    GAVE_NONE,
  )
  world.control.fault({ route: 'content', fault: { kind: 'cut-body' } })
  const broken = await fetched(world, messageId)
  expect([
    broken.status,
    await broken.arrayBuffer().then(
      () => 'complete',
      () => 'broken',
    ),
  ]).toEqual([200, 'broken'])
  expect((await fetched(world, messageId)).status).toBe(200)
})

test('a tenant reads four at a time; one more waits its turn, and other tenants do not', async () => {
  await using world = await createWorld()
  const messageId = await receive(world, [PICTURE])
  const other = await world.otherTenant()
  await world.connect({ tenantId: other.tenantId })
  world.control.fault({ route: 'content', calls: 4, fault: { kind: 'drip-body', ms: 60_000 } })
  const open = await Promise.all(Array.from({ length: 4 }, () => fetched(world, messageId)))
  expect(open.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  let isAnswered = false
  const waiting = fetched(world, messageId).finally(() => (isAnswered = true))
  await world.control.injectSms({ from: TO, to: FROM, attachments: [PICTURE] })
  const [own] = await until(async () => {
    const { body } = await world.json<{ messages: { messageId: string }[] }>('GET', '/v1/sms/messages', {
      key: other.apiKey,
    })
    return body.messages.length > 0 ? body.messages : null
  })
  const path = `/v1/sms/${own?.messageId}/attachments`
  const { body } = await world.json<{ attachments: Listed[] }>('GET', path, { key: other.apiKey })
  const theirs = await world.call('GET', `${path}/${body.attachments[0]?.attachmentId}`, { key: other.apiKey })
  expect([theirs.status, isAnswered]).toEqual([200, false])
  await open[0]?.body?.cancel()
  expect((await waiting).status).toBe(200)
  for (const answer of open.slice(1)) await answer.body?.cancel()
})

describe('an attachment shares the minute of the sends', () => {
  const CALLS = 40

  /** A world whose extension has `free` slots left, and a message with a picture. */
  async function worldWith(
    free: number,
    timeout = '5s',
  ): Promise<{ world: World; clock: ManualClock; messageId: string }> {
    const clock = manualClock()
    const world = await createWorld({ clock, env: { PROVIDER_TIMEOUT: timeout } })
    clock.advance(60_000)
    const messageId = await receive(world, [PICTURE])
    for (let left = CALLS; left > free; left--) world.gateway.quota.count(extensionOf(world))
    return { world, clock, messageId }
  }

  const extensionOf = ({ control }: World): string => control.extensions()[0]?.extensionId ?? ''

  test('it takes one of the slots, and is given while ten are free', async () => {
    const { world, messageId } = await worldWith(11)
    await using _world = world
    expect((await fetched(world, messageId)).status).toBe(200)
    expect(world.gateway.quota.extensionUse(extensionOf(world))).toEqual({ used: CALLS - 10, limit: CALLS })
    expect((await fetched(world, messageId)).status).toBe(200)
    expect(world.gateway.quota.extensionUse(extensionOf(world)).used).toBe(CALLS - 9)
  })

  test('with fewer it waits, and after the provider’s time is a 502 that says when to come again', async () => {
    const { world, clock, messageId } = await worldWith(9)
    await using _world = world
    const answer = fetched(world, messageId)
    const response = await until(async () => {
      clock.advance(250)
      return Promise.race([answer, Bun.sleep(5).then(() => null)])
    })
    expect(response.headers.get('retry-after')).toBe('60')
    await expectError(response, 502, GAVE_NONE)
    expect(world.control.requests({ route: 'content' })).toEqual([])
  })

  test('it waits for messages that wait, and comes after them', async () => {
    const { world, clock, messageId } = await worldWith(0, '90s')
    await using _world = world
    const sent = [await world.send({ to: TO, body: 'one' }), await world.send({ to: TO, body: 'two' })]
    const answer = fetched(world, messageId)
    await Bun.sleep(20)
    expect(world.control.requests({ route: 'content' })).toEqual([])
    clock.advance(60_000)
    for (const id of sent) await world.untilStatus(id)
    const response = await until(async () => {
      clock.advance(250)
      return Promise.race([answer, Bun.sleep(5).then(() => null)])
    })
    expect([response.status, world.control.requests({ route: 'sms' }).length]).toEqual([200, 2])
  })
})
