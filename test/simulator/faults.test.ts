import { connect } from 'node:net'
import { expect, test } from 'bun:test'
import type { Fault } from '../../src/simulator/faults.ts'
import { ALICE, BOB, codes, SELF, smsBody, startBench, type Bench } from './harness.ts'

/** Everything a client sees on the bare connection, and how it ended. */
interface Raw {
  text: string
  ended: 'closed' | 'reset'
  chunks: number
}

function rawSms(bench: Bench, token: string): Promise<Raw> {
  const body = JSON.stringify(smsBody('Hello'))
  const { hostname, port } = new URL(bench.simulator.url)
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

async function suffer(fault: Fault): Promise<Raw & { stored: number; logged: unknown }> {
  await using bench = await startBench()
  const { access_token } = await bench.login()
  bench.control.fault({ route: 'sms', fault })
  const seen = await rawSms(bench, access_token)
  const [logged] = bench.control.requests({ route: 'sms' })
  return { ...seen, stored: bench.control.messages().length, logged: [logged?.status, logged?.fault] }
}

test('reset before processing: the connection is reset and nothing is stored', async () => {
  expect(await suffer({ kind: 'reset' })).toEqual({
    text: '',
    ended: 'reset',
    chunks: 0,
    stored: 0,
    logged: [null, 'reset'],
  })
})

test('close before processing: the connection ends in order and nothing is stored', async () => {
  expect(await suffer({ kind: 'close' })).toMatchObject({ text: '', ended: 'closed', stored: 0 })
})

test('accept then reset: the message is stored and the connection reset', async () => {
  expect(await suffer({ kind: 'accept-then-reset' })).toMatchObject({
    text: '',
    ended: 'reset',
    stored: 1,
    logged: [null, 'accept-then-reset'],
  })
})

test('accept then close: the message is stored and the connection closed without an answer', async () => {
  expect(await suffer({ kind: 'accept-then-close' })).toMatchObject({ text: '', ended: 'closed', stored: 1 })
})

test('hang: no answer for the time, then a cut, and nothing is stored', async () => {
  expect(await suffer({ kind: 'hang', ms: 20 })).toMatchObject({ text: '', ended: 'reset', stored: 0 })
  expect(await suffer({ kind: 'accept-then-hang', ms: 20 })).toMatchObject({ text: '', ended: 'reset', stored: 1 })
})

test('cut body: headers and half of the body, then a reset', async () => {
  const seen = await suffer({ kind: 'cut-body' })
  const [head = '', body = ''] = seen.text.split('\r\n\r\n')
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
  expect(head).toStartWith('HTTP/1.1 200 OK')
  expect(body.length).toBe(Math.ceil(length / 2))
  expect(seen).toMatchObject({ ended: 'reset', stored: 1 })
})

test.concurrent.each(['drip-headers', 'drip-body'] as const)('%s arrive byte by byte, and complete', async (kind) => {
  const seen = await suffer({ kind, ms: 1 })
  expect(seen.chunks).toBeGreaterThan(50)
  const [head = '', body = ''] = seen.text.split('\r\n\r\n')
  expect(head).toStartWith('HTTP/1.1 200 OK')
  expect(JSON.parse(body)).toMatchObject({ subject: 'Hello' })
  expect(seen).toMatchObject({ stored: 1, logged: [200, kind] })
})

test('a dripping answer stops when the client leaves', async () => {
  await using bench = await startBench()
  const { access_token } = await bench.login()
  bench.control.fault({ route: 'sms', fault: { kind: 'drip-headers', ms: 5 } })
  const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
  const url = `${bench.simulator.url}/restapi/v1.0${SELF}/sms`
  const signal = AbortSignal.timeout(40)
  expect(fetch(url, { method: 'POST', headers, body: JSON.stringify(smsBody('x')), signal })).rejects.toThrow()
  while (bench.control.requests({ route: 'sms' }).length === 0) await Bun.sleep(5)
  expect(bench.control.requests({ route: 'sms' })).toMatchObject([{ status: null, fault: 'drip-headers' }])
  expect((await bench.sms(access_token)).status).toBe(200)
})

test('late accept: reset at once, stored when the clock has moved on', async () => {
  await using bench = await startBench()
  const { access_token } = await bench.login()
  bench.control.fault({ route: 'sms', fault: { kind: 'late-accept', ms: 4000 } })
  expect(await rawSms(bench, access_token)).toMatchObject({ text: '', ended: 'reset' })
  bench.clock.advance(3999)
  await Promise.resolve()
  expect(bench.control.messages()).toEqual([])
  bench.clock.advance(1)
  await Promise.resolve()
  expect(bench.control.messages()).toHaveLength(1)
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
  await using bench = await startBench()
  const { access_token } = await bench.login()
  bench.control.fault({ route: 'sms', fault })
  const hit = await bench.sms(access_token)
  expect(hit.status).toBe(status)
  expect(hit.headers.get('rcrequestid')).not.toBeNull()
  if (fault.kind !== 'no-id') expect(hit.text).toMatch(text)
  if (fault.kind === 'no-id') expect(hit.body).not.toHaveProperty('id')
  if (fault.kind === 'truncated') expect(() => JSON.parse(hit.text)).toThrow()
  if (status === 429) expect(hit.headers.get('retry-after')).toBe('60')
  expect(bench.control.messages()).toHaveLength(stored)
  expect((await bench.sms(access_token)).status).toBe(200)
})

test('a rule hits its route, its extension and its number of calls, after those that may pass', async () => {
  await using bench = await startBench()
  const bob = bench.control.addExtension({ numbers: [BOB] }).extensionId
  const alice = (await bench.login()).access_token
  const other = (await bench.login({ login_hint: bob })).access_token
  bench.control.fault({
    route: 'sms',
    extensionId: bench.alice,
    calls: 2,
    after: 1,
    fault: { kind: 'respond', status: 503 },
  })
  const bobs = async () => (await bench.api(other, 'POST', `${SELF}/sms`, smsBody('x', ALICE, BOB))).status
  const alices = async () => (await bench.sms(alice)).status
  expect([await alices(), await bobs(), await alices(), await alices(), await bobs(), await alices()]).toEqual([
    200, 200, 503, 503, 200, 200,
  ])
  bench.control.fault({ route: '*', calls: null, fault: { kind: 'respond', status: 500 } })
  expect([(await bench.api(alice, 'GET', SELF)).status, await alices(), await bobs()]).toEqual([500, 500, 500])
  bench.control.clearFaults()
  expect(await alices()).toBe(200)
  expect(() => bench.control.fault({ route: 'smss', fault: { kind: 'reset' } })).toThrow('Unknown route smss')
})

test('a refresh whose answer is lost can be repeated', async () => {
  await using bench = await startBench()
  const { refresh_token } = await bench.login()
  bench.control.fault({ route: 'token', extensionId: bench.alice, fault: { kind: 'accept-then-reset' } })
  expect(bench.refresh(refresh_token)).rejects.toThrow()
  const repeated = await bench.refresh(refresh_token)
  expect(repeated.status).toBe(200)
  expect((await bench.api(repeated.body.access_token, 'GET', SELF)).status).toBe(200)
})

test('random faults repeat themselves with the same seed and keep to their rates', async () => {
  await using bench = await startBench({ limits: false })
  const { access_token } = await bench.login()
  const rules = [
    { route: 'sms', rate: 0.1, fault: { kind: 'respond' as const, status: 429 } },
    { route: 'sms', rate: 0.2, fault: { kind: 'accept-then-respond' as const, status: 502 } },
  ]
  const run = async (seed: number) => {
    bench.control.randomFaults({ seed, rules })
    const seen: number[] = []
    for (let count = 0; count < 200; count++) seen.push((await bench.sms(access_token)).status)
    return seen
  }
  const first = await run(7)
  expect(await run(7)).toEqual(first)
  expect(await run(8)).not.toEqual(first)
  const share = (status: number) => first.filter((one) => one === status).length / first.length
  expect(share(429)).toBeWithin(0.04, 0.18)
  expect(share(502)).toBeWithin(0.12, 0.3)
  bench.control.randomFaults(null)
  expect(codes(await bench.sms(access_token))).toEqual([200, undefined])
})
