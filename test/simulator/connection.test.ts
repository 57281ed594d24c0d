import { connect } from 'node:net'
import { expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { reserveSimulator } from '../../src/simulator/reserve.ts'
import { ALICE, answer, SELF, smsBody, startHarness } from './harness.ts'

/** Sends pieces on a raw connection, one per tick of the event loop, and reads until `done` or the end. */
function speak(
  at: { url: string },
  pieces: (string | Uint8Array)[],
  done: (text: string) => boolean = () => false,
): Promise<string> {
  const { hostname, port } = new URL(at.url)
  const { promise, resolve } = Promise.withResolvers<string>()
  let text = ''
  const socket = connect(Number(port), hostname, () => void sendAll())
  const sendAll = async () => {
    socket.setNoDelay(true)
    for (const piece of pieces) {
      socket.write(piece)
      await Bun.sleep(1)
    }
  }
  socket.on('data', (data) => {
    text += data.toString()
    if (done(text)) socket.destroy()
  })
  socket.on('error', () => undefined)
  socket.on('close', () => resolve(text))
  return promise
}

const probe = 'GET /restapi HTTP/1.1\r\nHost: x\r\n'
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]))

test('a request may arrive byte by byte', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const body = JSON.stringify(smsBody('Grüße 😀'))
  const length = Buffer.byteLength(body)
  const request = `POST /restapi/v1.0${SELF}/sms HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${access_token}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${body}`
  const text = await speak(
    harness.simulator,
    [...Buffer.from(request)].map((byte) => Uint8Array.of(byte)),
  )
  expect(statuses(text)).toEqual([200])
  expect(harness.control.messages()[0]?.text).toBe('Grüße 😀')
})

test('a chunked body is decoded', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const bytes = new TextEncoder().encode(JSON.stringify(smsBody('In chunks 😀')))
  const body = new ReadableStream({
    async start(controller) {
      for (let at = 0; at < bytes.length; at += 40) {
        controller.enqueue(bytes.subarray(at, at + 40))
        await Bun.sleep(1)
      }
      controller.close()
    },
  })
  const headers = { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }
  const sent = await answer(
    fetch(`${harness.simulator.url}/restapi/v1.0${SELF}/sms`, { method: 'POST', headers, body }),
  )
  expect([sent.status, sent.body['subject']]).toEqual([200, 'In chunks 😀'])
})

test('requests on one connection are answered in order, and a slow one delays the next', async () => {
  await using harness = await startHarness()
  harness.control.fault({ route: 'probe', fault: { kind: 'delay', ms: 20 } })
  const unknown = 'GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  const text = await speak(harness.simulator, [`${probe}\r\n${probe}\r\n${unknown}`])
  expect(statuses(text)).toEqual([200, 200, 404])
})

test('Connection: close and HTTP/1.0 end the connection after the answer', async () => {
  await using harness = await startHarness()
  expect(statuses(await speak(harness.simulator, [`${probe}Connection: close\r\n\r\n`]))).toEqual([200])
  expect(statuses(await speak(harness.simulator, ['GET /restapi HTTP/1.0\r\n\r\n']))).toEqual([200])
})

test('a client that expects 100-continue gets it', async () => {
  await using harness = await startHarness()
  const head = `POST /control/counters HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n`
  expect(statuses(await speak(harness.simulator, [head, '{}']))).toEqual([100, 200])
})

const BAD: [string, string, number][] = [
  ['bytes that are not HTTP', 'hello\r\n\r\n', 400],
  ['a header without a colon', `${probe}nonsense\r\n\r\n`, 400],
  ['a negative length', `${probe}Content-Length: -1\r\n\r\n`, 400],
  ['a body over 5 MiB', `${probe}Content-Length: 5242881\r\n\r\n`, 413],
  ['endless headers', `${probe}X: ${'x'.repeat(70_000)}`, 431],
]

test.each(BAD)('a request with %s is refused and the connection closed', async (_, request, status) => {
  await using harness = await startHarness()
  expect(statuses(await speak(harness.simulator, [request]))).toEqual([status])
  expect((await fetch(`${harness.simulator.url}/restapi`)).status).toBe(200)
})

test('an answer larger than the socket accepts at once arrives completely', async () => {
  await using harness = await startHarness({ limits: false })
  const { access_token } = await harness.login()
  const text = '😀'.repeat(500)
  for (let count = 0; count < 500; count++) await harness.control.injectSms({ to: ALICE, text, deliver: false })
  const list = await harness.api(access_token, 'GET', `${SELF}/message-store?perPage=1000`)
  expect(list.text.length).toBeGreaterThan(500_000)
  expect(list.body.records).toHaveLength(500)
  expect(list.body.records.every((one) => one['subject'] === text)).toBe(true)
})

test('a stop disconnects waiting clients and frees the port', async () => {
  const harness = await startHarness()
  harness.control.fault({ route: 'probe', fault: { kind: 'hang' } })
  const waiting = fetch(`${harness.simulator.url}/restapi`).then(
    () => 'answered',
    () => 'cut',
  )
  await Bun.sleep(10)
  await harness.simulator.stop()
  expect(await waiting).toBe('cut')
  await using next = await startHarness({ port: Number(new URL(harness.simulator.url).port) })
  expect(next.simulator.url).toBe(harness.simulator.url)
})

const OPTIONS = { clock: systemClock, clientId: 'app', clientSecret: 'secret' }

test('requests before the simulator is loaded are answered once it is loaded', async () => {
  const reserved = reserveSimulator()
  const early = speak(reserved, [`${probe}Connection: close\r\n\r\n`])
  // The connection refuses this request at once, so the request before it has been read.
  expect(statuses(await speak(reserved, ['nonsense\r\n\r\n']))).toEqual([400])
  const simulator = await reserved.start(OPTIONS)
  expect(simulator.url).toBe(reserved.url)
  expect(statuses(await early)).toEqual([200])
  await reserved.stop()
})

test('the port is free after a stop, also if the simulator was never loaded', async () => {
  for (const load of [true, false]) {
    const reserved = reserveSimulator()
    if (load) await reserved.start(OPTIONS)
    await reserved.stop()
    expect(await speak(reserved, [`${probe}\r\n`])).toBe('')
  }
})

test('a reserved simulator refuses to start in production', async () => {
  const reserved = reserveSimulator()
  const started = reserved.start({ ...OPTIONS, environment: 'production' })
  expect(await started.catch(String)).toContain('refuses to run in production')
  await reserved.stop()
})
