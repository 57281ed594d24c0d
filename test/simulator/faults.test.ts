import { connect } from 'node:net'
import { expect, test } from 'bun:test'
import type { Fault } from '../../src/simulator/faults.ts'
import { ALICE, BOB, codes, SELF, smsBody, startHarness, type SimulatorHarness } from './harness.ts'

/** Everything that a client receives on a raw connection, and its end. */
interface Raw {
  text: string
  ended: 'closed' | 'reset'
  chunks: number
}

function rawSms(harness: SimulatorHarness, token: string): Promise<Raw> {
  const body = JSON.stringify(smsBody('Hello'))
  const { hostname, port } = new URL(harness.simulator.url)
  const head = [
    `POST /restapi/v1.0${SELF}/sms HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]
  const { promise, resolve } = Promise.withResolvers<Raw>()
  const seen: Raw = { text: '', ended: 'closed', chunks: 0 }
  const socket = connect(Number(port), hostname, () => socket.write(`${head.join('\r\n')}\r\n\r\n${body}`))
  socket.on('data', (data) => {
    seen.text += data.toString()
    seen.chunks++
  })
  socket.on('error', () => (seen.ended = 'reset'))
  socket.on('close', () => resolve(seen))
  return promise
}

async function sendWithFault(fault: Fault): Promise<Raw & { stored: number; logged: unknown }> {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  harness.control.fault({ route: 'sms', fault })
  const seen = await rawSms(harness, access_token)
  const [logged] = harness.control.requests({ route: 'sms' })
  return { ...seen, stored: harness.control.messages().length, logged: [logged?.status, logged?.fault] }
}

test('reset closes the connection with RST, and nothing is stored', async () => {
  expect(await sendWithFault({ kind: 'reset' })).toEqual({
    text: '',
    ended: 'reset',
    chunks: 0,
    stored: 0,
    logged: [null, 'reset'],
  })
})

test('close ends the connection with FIN, and nothing is stored', async () => {
  expect(await sendWithFault({ kind: 'close' })).toMatchObject({ text: '', ended: 'closed', stored: 0 })
})

test('accept-then-reset stores the message and resets the connection', async () => {
  expect(await sendWithFault({ kind: 'accept-then-reset' })).toMatchObject({
    text: '',
    ended: 'reset',
    stored: 1,
    logged: [null, 'accept-then-reset'],
  })
})

test('accept-then-close stores the message and closes the connection without an answer', async () => {
  expect(await sendWithFault({ kind: 'accept-then-close' })).toMatchObject({ text: '', ended: 'closed', stored: 1 })
})

test('hang gives no answer, then cuts the connection, and nothing is stored', async () => {
  expect(await sendWithFault({ kind: 'hang', ms: 20 })).toMatchObject({ text: '', ended: 'reset', stored: 0 })
  expect(await sendWithFault({ kind: 'accept-then-hang', ms: 20 })).toMatchObject({
    text: '',
    ended: 'reset',
    stored: 1,
  })
})

test('cut-body sends the headers and half of the body, then resets the connection', async () => {
  const seen = await sendWithFault({ kind: 'cut-body' })
  const [head = '', body = ''] = seen.text.split('\r\n\r\n')
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
  expect(head).toStartWith('HTTP/1.1 200 OK')
  expect(body.length).toBe(Math.ceil(length / 2))
  expect(seen).toMatchObject({ ended: 'reset', stored: 1 })
})

test.concurrent.each(['drip-headers', 'drip-body'] as const)('%s arrive byte by byte, and complete', async (kind) => {
  const seen = await sendWithFault({ kind, ms: 1 })
  expect(seen.chunks).toBeGreaterThan(50)
  const [head = '', body = ''] = seen.text.split('\r\n\r\n')
  expect(head).toStartWith('HTTP/1.1 200 OK')
  expect(JSON.parse(body)).toMatchObject({ subject: 'Hello' })
  expect(seen).toMatchObject({ stored: 1, logged: [200, kind] })
})

test('a dripping answer stops when the client disconnects', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  harness.control.fault({ route: 'sms', fault: { kind: 'drip-body', ms: 5 } })
  const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
  const url = `${harness.simulator.url}/restapi/v1.0${SELF}/sms`
  const leaving = new AbortController()
  const { signal } = leaving
  await fetch(url, { method: 'POST', headers, body: JSON.stringify(smsBody('x')), signal })
  // Its headers are here, so the answer has begun.
  leaving.abort()
  while (harness.control.requests({ route: 'sms' }).length === 0) await Bun.sleep(5)
  expect(harness.control.requests({ route: 'sms' })).toMatchObject([{ status: null, fault: 'drip-body' }])
  expect((await harness.sms(access_token)).status).toBe(200)
})

test('late-accept resets at once and stores the message later on the clock', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  harness.control.fault({ route: 'sms', fault: { kind: 'late-accept', ms: 4000 } })
  expect(await rawSms(harness, access_token)).toMatchObject({ text: '', ended: 'reset' })
  harness.clock.advance(3999)
  await Promise.resolve()
  expect(harness.control.messages()).toEqual([])
  harness.clock.advance(1)
  await Promise.resolve()
  expect(harness.control.messages()).toHaveLength(1)
})

const ANSWERS: [Fault, number, RegExp, number][] = [
  [{ kind: 'respond', status: 429 }, 429, /CMN-301/, 0],
  [{ kind: 'respond', status: 502 }, 502, /<html>/, 0],
  [{ kind: 'respond', status: 503 }, 503, /CMN-201/, 0],
  [{ kind: 'respond', status: 418, body: { errorCode: 'X-1' }, headers: { 'X-Own': 'yes' } }, 418, /"X-1"/, 0],
  [{ kind: 'accept-then-respond', status: 500 }, 500, /CMN-203/, 1],
  [{ kind: 'accept-then-respond', status: 502 }, 502, /<html>/, 1],
  [{ kind: 'no-id' }, 200, /^\{"uri":(?!.*"id":\d{13,}).*"subject":"Hello"/, 1],
  [{ kind: 'html' }, 200, /^<html>/, 1],
  [{ kind: 'truncated' }, 200, /^\{"uri":[^}]*/, 1],
  [{ kind: 'delay', ms: 20 }, 200, /"messageStatus":"Queued"/, 1],
]

test.each(ANSWERS)('the fault %o answers %p', async (fault, status, text, stored) => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  harness.control.fault({ route: 'sms', fault })
  const hit = await harness.sms(access_token)
  expect(hit.status).toBe(status)
  expect(hit.headers.get('rcrequestid')).not.toBeNull()
  if (fault.kind !== 'no-id') expect(hit.text).toMatch(text)
  if (fault.kind === 'no-id') expect(hit.body).not.toHaveProperty('id')
  if (fault.kind === 'truncated') expect(() => JSON.parse(hit.text)).toThrow()
  if (status === 429) expect(hit.headers.get('retry-after')).toBe('60')
  expect(harness.control.messages()).toHaveLength(stored)
  expect((await harness.sms(access_token)).status).toBe(200)
})

test('a rule affects its route, its extension and its number of calls, after the calls that pass first', async () => {
  await using harness = await startHarness()
  const bob = harness.control.addExtension({ numbers: [BOB] }).extensionId
  const alice = (await harness.login()).access_token
  const other = (await harness.login({ login_hint: bob })).access_token
  harness.control.fault({
    route: 'sms',
    extensionId: harness.alice,
    calls: 2,
    after: 1,
    fault: { kind: 'respond', status: 503 },
  })
  const bobs = async () => (await harness.api(other, 'POST', `${SELF}/sms`, smsBody('x', ALICE, BOB))).status
  const alices = async () => (await harness.sms(alice)).status
  expect([await alices(), await bobs(), await alices(), await alices(), await bobs(), await alices()]).toEqual([
    200, 200, 503, 503, 200, 200,
  ])
  harness.control.fault({ route: '*', calls: null, fault: { kind: 'respond', status: 500 } })
  expect([(await harness.api(alice, 'GET', SELF)).status, await alices(), await bobs()]).toEqual([500, 500, 500])
  harness.control.clearFaults()
  expect(await alices()).toBe(200)
  expect(() => harness.control.fault({ route: 'smss', fault: { kind: 'reset' } })).toThrow('Unknown route smss')
})

test('a refresh whose answer is lost can be repeated', async () => {
  await using harness = await startHarness()
  const { refresh_token } = await harness.login()
  harness.control.fault({ route: 'token', extensionId: harness.alice, fault: { kind: 'accept-then-reset' } })
  expect(harness.refresh(refresh_token)).rejects.toThrow()
  const repeated = await harness.refresh(refresh_token)
  expect(repeated.status).toBe(200)
  expect((await harness.api(repeated.body.access_token, 'GET', SELF)).status).toBe(200)
})

test('random faults are the same with the same seed and keep to their rates', async () => {
  await using harness = await startHarness({ limits: false })
  const { access_token } = await harness.login()
  const rules = [
    { route: 'sms', rate: 0.1, fault: { kind: 'respond' as const, status: 429 } },
    { route: 'sms', rate: 0.2, fault: { kind: 'accept-then-respond' as const, status: 502 } },
  ]
  const run = async (seed: number) => {
    harness.control.randomFaults({ seed, rules })
    const seen: number[] = []
    for (let count = 0; count < 200; count++) seen.push((await harness.sms(access_token)).status)
    return seen
  }
  const first = await run(7)
  expect(await run(7)).toEqual(first)
  expect(await run(8)).not.toEqual(first)
  const share = (status: number) => first.filter((one) => one === status).length / first.length
  expect(share(429)).toBeWithin(0.04, 0.18)
  expect(share(502)).toBeWithin(0.12, 0.3)
  harness.control.randomFaults(null)
  expect(codes(await harness.sms(access_token))).toEqual([200, undefined])
})
