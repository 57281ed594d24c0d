import { expect, spyOn, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { operate, signIn } from '../../support/operator.ts'
import { FROM, TO, type World, createWorld, recordedLog } from '../../support/world.ts'

const TO_2 = '+15555550198'
const quiet = (): Promise<World> => createWorld({ connect: false, work: false })

interface Asked {
  from?: string
  to?: string
  text?: string
}

const notify = (world: World, asked: Asked, body: unknown, headers: Record<string, string> = {}): Promise<Response> => {
  const query = new URLSearchParams({ from: FROM, to: TO, ...asked })
  return world.call('POST', `/v1/sms/notify?${query}`, { body, headers })
}

/** Recipients and texts of what was stored, oldest first. */
async function stored(world: World): Promise<[to: string, body: string][]> {
  const { body } = await world.json<{ messages: { to: string; body: string }[] }>('GET', '/v1/sms/messages?limit=100')
  return body.messages.map((message) => [message.to, message.body] as [string, string]).toReversed()
}

const REQUIRED = 'to, from, and body are required'
const NUMBERS = 'to and from must be valid E.164 phone numbers'
const LENGTH = 'body must be 1-1600 characters'
const CONFLICT = 'Idempotency-Key was used with a different request'

test('each recipient gets a message of its own, made from the body, once', async () => {
  await using world = await createWorld()
  const body = { status: 'firing', alerts: [{ labels: { host: 'db1' } }] }
  const asked = { to: `${TO},${TO_2},${TO}`, text: '{{status}}: {{ alerts.0.labels.host }}' }
  const answer = await notify(world, asked, body)
  expect(answer.status).toBe(202)
  const { messages, ...others } = (await answer.json()) as { messages: { messageId: string; to: string }[] }
  expect(others).toEqual({})
  expect(messages).toEqual([
    { messageId: expect.stringMatching(/^msg_[0-9a-f]{12}$/), to: TO, status: 'queued' },
    { messageId: expect.stringMatching(/^msg_[0-9a-f]{12}$/), to: TO_2, status: 'queued' },
  ] as never)
  for (const { messageId, to } of messages)
    expect(await world.untilStatus(messageId)).toMatchObject({ status: 'sent', to, from: FROM, body: 'firing: db1' })
  expect(world.control.messages({ direction: 'Outbound' })).toHaveLength(2)
})

test('the body may be any JSON, and any of its usual places is the text', async () => {
  await using world = await quiet()
  for (const [body, text] of [
    [{ msg: 'Uptime Kuma' }, 'Uptime Kuma'],
    [{ alerts: [{ annotations: { summary: 'Alertmanager' } }] }, 'Alertmanager'],
    [{ text: '  ', title: 'a title\n' }, 'a title'],
  ] as const) {
    expect((await notify(world, {}, body)).status).toBe(202)
    expect((await stored(world)).at(-1)).toEqual([TO, text])
  }
  expect((await notify(world, { text: 'fixed' }, '"any"')).status).toBe(202)
  expect(
    (await notify(world, { text: '{{150}}' }, JSON.stringify(Array.from({ length: 200 }, (_, n) => n)))).status,
  ).toBe(202)
  expect((await notify(world, { text: '{{a.150}}' }, { a: Array.from({ length: 200 }, (_, n) => n) })).status).toBe(202)
  expect((await notify(world, { text: 'no body' }, undefined)).status).toBe(202)
  const texts = (await stored(world)).slice(-4).map(([, text]) => text)
  expect(texts).toEqual(['fixed', '150', '150', 'no body'])
})

test('numbers arrive digit for digit as they were posted, by themselves and inside of objects and lists', async () => {
  await using world = await quiet()
  const numbers = ['12345678901234567890', '1.0', '1e3', '-0', '0.10', '1E+2', '9007199254740993', '-1.50e-7', '7']
  for (const number of numbers) {
    const body = `{"n":${number},"o":{"n":[${number}, "1.0"]},"text":"${number}"}`
    expect(
      (await notify(world, { text: '{{n}} {{o}} {{o.n.0}} {{text}} [{{n.rawJSON}}{{n.length}}]' }, body)).status,
    ).toBe(202)
    expect((await stored(world)).at(-1)).toEqual([TO, `${number} {"n":[${number},"1.0"]} ${number} ${number} []`])
  }
})

test('a name with dots is found before a path, the longest first', async () => {
  await using world = await quiet()
  const body = {
    labels: { 'app.kubernetes.io/name': 'shop', app: { 'kubernetes.io/name': 'other' } },
    'host.name': 'db1',
    host: { name: 'db2', 'os.type': 'linux', cpu: [{ 'load.1m': 0.93 }] },
    'a.b': { c: 'literal' },
    a: { 'b.c': 'inner', b: { c: 'path', d: 'only by the path' } },
    'x.y.z': 'longest',
    'x.y': { z: 'shorter' },
    'empty.name': null,
  }
  for (const [text, expected] of [
    ['{{labels.app.kubernetes.io/name}}', 'shop'],
    ['{{ host.name }}', 'db1'],
    ['{{host.os.type}}', 'linux'],
    ['{{host.cpu.0.load.1m}}', '0.93'],
    ['{{a.b.c}}', 'literal'],
    ['{{a.b.d}}', 'only by the path'],
    ['{{x.y.z}}', 'longest'],
    ['[{{empty.name}}{{host.name.first}}{{labels.app.kubernetes}}]', '[]'],
  ] as const) {
    expect([text, (await notify(world, { text }, body)).status]).toEqual([text, 202])
    expect([text, (await stored(world)).at(-1)]).toEqual([text, [TO, expected]])
  }
})

test('NUL and half an emoji arrive as U+FFFD, in a value, in the template and at the cut', async () => {
  await using world = await quiet()
  for (const [asked, body, text] of [
    [{}, '{"text":"a\\u0000b"}', 'a\ufffdb'],
    [{}, '{"text":"disk \\ud83d"}', 'disk \ufffd'],
    [{}, '{"text":"\\ude00\\ud83d\\ude00"}', '\ufffd😀'],
    [{ text: '{{a}}!' }, '{"a":"\\u0000"}', '\ufffd!'],
    [{ text: 'x\0y' }, '{}', 'x\ufffdy'],
    [{ text: '{{a}}{{b}}' }, '{"a":"\\ud83d","b":"\\ude00"}', '😀'],
    [{ text: '{{a}}' }, JSON.stringify({ a: `\ud800${'x'.repeat(2000)}` }), `\ufffd${'x'.repeat(1598)}…`],
  ] as const) {
    expect([body, (await notify(world, asked, body)).status]).toEqual([body, 202])
    expect([body, (await stored(world)).at(-1)]).toEqual([body, [TO, text]])
  }
})

test('an alert that has only a description, a message or a name arrives', async () => {
  await using world = await quiet()
  const labels = { alertname: 'DiskFull', instance: 'db1' }
  const alert = (annotations: object) => ({ alerts: [{ labels, annotations }], commonLabels: labels })
  for (const [body, text] of [
    [{ ...alert({ description: 'first' }), commonAnnotations: { description: 'common' } }, 'common'],
    [{ ...alert({ description: 'first' }), commonAnnotations: { message: 'common message' } }, 'common message'],
    [alert({ description: 'first' }), 'first'],
    [alert({ message: 'its message' }), 'its message'],
    [alert({ summary: 'its summary', description: 'first' }), 'its summary'],
    [alert({}), 'DiskFull'],
  ] as const) {
    expect((await notify(world, {}, body)).status).toBe(202)
    expect((await stored(world)).at(-1)).toEqual([TO, text])
  }
})

test('numbers with a + that was not escaped are read as meant', async () => {
  await using world = await quiet()
  const path = `/v1/sms/notify?from=${FROM}&to=${TO},${TO_2}&text=${encodeURIComponent('a+b')}`
  expect((await world.call('POST', path, { body: {} })).status).toBe(202)
  expect(await stored(world)).toEqual([
    [TO, 'a+b'],
    [TO_2, 'a+b'],
  ])
})

test('a bad request is refused with one clear error, and nobody gets anything', async () => {
  await using world = await quiet()
  const ten = Array.from({ length: 10 }, (_, n) => `+155555502${10 + n}`)
  const cases: [Asked, unknown, string][] = [
    [{ from: '' }, { text: 'x' }, REQUIRED],
    [{ to: '' }, { text: 'x' }, REQUIRED],
    [{ to: '5555550199', text: '{{' }, {}, NUMBERS],
    [{ to: `${TO},` }, { text: 'x' }, NUMBERS],
    [{ to: `${TO},${TO_2}x` }, { text: 'x' }, NUMBERS],
    [{ from: `${FROM},${FROM}` }, { text: 'x' }, NUMBERS],
    [{ to: [...ten, TO].join() }, { text: 'x' }, 'Invalid to'],
    [{ text: '{{a' }, { a: 1 }, 'Invalid text'],
    [{ text: '{{ .CommonLabels.alertname }}' }, {}, 'Invalid text'],
    [{ text: 'x'.repeat(2001) }, {}, 'Invalid text'],
    [{ text: '{{a}}' }, {}, LENGTH],
    [{ text: ' ' }, { text: 'x' }, LENGTH],
    [{}, {}, LENGTH],
    [{}, undefined, LENGTH],
    [{}, '"text"', LENGTH],
    [{}, '{"text":', 'Invalid JSON'],
    [{}, `${'['.repeat(40)}${']'.repeat(40)}`, 'Invalid JSON'],
  ]
  for (const [asked, body, error] of cases) await expectError(await notify(world, asked, body), 400, error)
  await expectError(
    await world.call('POST', '/v1/sms/notify', { body: { text: 'x', from: FROM, to: TO } }),
    400,
    REQUIRED,
  )
  await expectError(await notify(world, {}, { text: 'x'.repeat(102_400) }), 413, 'Payload too large')
  expect(await stored(world)).toEqual([])
  expect((await notify(world, { to: [...ten, ...ten].join() }, { text: 'ten' })).status).toBe(202)
  expect(await stored(world)).toHaveLength(10)
})

test('a body of 100 KB that a template repeats four hundred times is cut, and answered', async () => {
  await using world = await quiet()
  for (const unit of ['x', ' ', '😀']) {
    const value = unit.repeat(100_000 / Buffer.byteLength(unit))
    const text = `.${'{{a}}'.repeat(398)}!`
    expect((await notify(world, { text }, { a: value })).status).toBe(202)
    const [, body = ''] = (await stored(world)).at(-1) ?? []
    expect([unit, body.length > 1590, body.length <= 1600, body.isWellFormed(), body.at(-1)]).toEqual([
      unit,
      true,
      true,
      true,
      '…',
    ])
  }
})

test('a repeated key sends nothing again, and adds who is missing', async () => {
  await using world = await quiet()
  const once = { 'idempotency-key': 'k'.repeat(239) }
  const asked = { to: `${TO},${TO_2}` }
  const first = await notify(world, asked, { text: 'once' }, once)
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([202, null])
  const answer = await first.json()
  const again = await notify(world, asked, { text: 'once' }, once)
  expect([again.status, again.headers.get('idempotent-replayed'), await again.json()]).toEqual([202, 'true', answer])
  // As after a fault that came between the two.
  const { database } = world.gateway
  await database.gate.execute({
    sql: 'DELETE FROM idempotency_keys WHERE key = ?1',
    args: [`${once['idempotency-key']}:${TO_2}`],
  })
  const partly = await notify(world, asked, { text: 'once' }, once)
  expect([partly.status, partly.headers.get('idempotent-replayed')]).toEqual([202, null])
  expect(await stored(world)).toEqual([
    [TO, 'once'],
    [TO_2, 'once'],
    [TO_2, 'once'],
  ])
})

test('a repeated key with the same JSON sends nothing again; above 16 KB it must be the same byte for byte', async () => {
  await using world = await quiet()
  const writeJson = spyOn(JSON, 'stringify')
  try {
    for (const [key, length, isSame] of [
      ['short', 100, true],
      ['long', 20_000, false],
    ] as const) {
      const once = { 'idempotency-key': key }
      const details = { text: key, details: Array.from({ length: length / 10 }, () => 'detail') }
      const compact = JSON.stringify(details)
      expect((await notify(world, {}, compact, once)).status).toBe(202)
      writeJson.mockClear()
      expect((await notify(world, {}, compact, once)).headers.get('idempotent-replayed')).toBe('true')
      // Writing 100 KB of JSON anew can take longer than everything else of a request.
      expect(writeJson.mock.results.filter(({ value }) => String(value).length > 16_384)).toEqual([])
      const spaced = JSON.stringify(details, null, 1)
      if (isSame) expect((await notify(world, {}, spaced, once)).headers.get('idempotent-replayed')).toBe('true')
      else await expectError(await notify(world, {}, spaced, once), 409, CONFLICT)
      await expectError(await notify(world, {}, compact.replace('detail', 'detaiL'), once), 409, CONFLICT)
    }
  } finally {
    writeJson.mockRestore()
  }
  expect((await stored(world)).map(([, text]) => text)).toEqual(['short', 'long'])
})

test('a key that another request has used is refused for all recipients, before anybody gets a message', async () => {
  await using world = await quiet()
  const once = { 'idempotency-key': 'alert-7' }
  expect((await notify(world, {}, { text: 'first' }, once)).status).toBe(202)
  for (const [asked, body] of [
    [{}, { text: 'other' }],
    [{}, { text: 'first', more: 1 }],
    [{}, '{"text":"first","more":1.0}'],
    [{ text: '{{text}}' }, { text: 'first' }],
    [{ to: `${TO_2},${TO}` }, { text: 'first' }],
    [{ from: '+15555550101' }, { text: 'first' }],
  ] as const)
    await expectError(await notify(world, asked, body, once), 409, CONFLICT)
  const send = { body: { from: FROM, to: TO, body: 'first' }, headers: { 'idempotency-key': `alert-7:${TO}` } }
  await expectError(await world.call('POST', '/v1/sms/send', send), 409, CONFLICT)
  const bad = 'Idempotency-Key must be 1-239 visible ASCII characters'
  await expectError(await notify(world, {}, { text: 'x' }, { 'idempotency-key': 'k'.repeat(240) }), 400, bad)
  await expectError(await notify(world, {}, { text: 'x' }, { 'idempotency-key': 'a b' }), 400, bad)
  expect(await stored(world)).toEqual([[TO, 'first']])
})

test('an operator’s line in the log has nothing of the body, whatever its fields are called', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ connect: false, work: false, log })
  const { token } = await signIn(world)
  const body = { text: 'canary-text', status: 'canary-status', address: 'canary-address', tenantId: 'canary-tenant' }
  const path = `/v1/sms/notify?${new URLSearchParams({ from: FROM, to: TO })}`
  const answer = await world.call('POST', path, { key: token, body, headers: { 'sgw-app': world.app.appId } })
  expect(answer.status).toBe(202)
  expect(lines.filter((line) => line.includes('an operator made a change')).length).toBeGreaterThan(0)
  expect(lines.filter((line) => /canary|5555550199/.test(line))).toEqual([])
})

test('the command line’s notice is sent for the app that has the number', async () => {
  await using world = await createWorld({ work: false })
  const query = (more: object) => new URLSearchParams({ from: FROM, to: TO, ...more }).toString()
  const sent = await operate(world, 'POST', `/v1/operator/notify?${query({})}`, { message: 'the disk is full' })
  expect(sent).toMatchObject({ status: 200, body: { messages: [{ to: TO, status: 'queued' }] } })
  expect(Object.keys(sent.body)).toEqual(['messages'])
  const other = await operate(world, 'POST', `/v1/operator/notify?${query({ from: '+15555550177' })}`, { text: 'x' })
  expect(String(other.body['error'])).toStartWith('No tenant with an active app has +15555550177 connected')
  expect(await stored(world)).toEqual([[TO, 'the disk is full']])
})
