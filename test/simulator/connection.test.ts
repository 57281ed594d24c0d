import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { reserveSimulator, type ReservedSimulator } from '../../src/simulator/reserve.ts'
import { answer, SELF, smsBody, startHarness } from './harness.ts'

const post = (url: string, token: string, body: string | ReadableStream): Promise<Response> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return fetch(`${url}/restapi/v1.0${SELF}/sms`, { method: 'POST', headers, body })
}

test('a body that arrives in chunks is read as one text', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const bytes = new TextEncoder().encode(JSON.stringify(smsBody('In chunks 😀')))
  const body = new ReadableStream({
    async start(controller) {
      for (const byte of bytes) {
        controller.enqueue(Uint8Array.of(byte))
        await Bun.sleep(0)
      }
      controller.close()
    },
  })
  const sent = await answer(post(harness.simulator.url, access_token, body))
  expect([sent.status, sent.body['subject']]).toEqual([200, 'In chunks 😀'])
})

test('a body over 10 MiB is answered with 413 and not processed', async () => {
  await using harness = await startHarness()
  const { access_token } = await harness.login()
  const tooLong = JSON.stringify(smsBody('Hello')).padEnd(10_485_761)
  expect((await post(harness.simulator.url, access_token, tooLong)).status).toBe(413)
  expect(harness.control.messages()).toEqual([])
  expect((await post(harness.simulator.url, access_token, tooLong.slice(0, -1))).status).toBe(200)
})

test('a connection stays open between calls, however long it is idle', async () => {
  await using harness = await startHarness()
  const { headers } = await fetch(`${harness.simulator.url}/restapi`)
  expect([headers.get('connection'), headers.get('keep-alive')]).toEqual(['keep-alive', null])
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

test('a simulator does not start on a port that is taken', async () => {
  await using harness = await startHarness()
  const second = startHarness({ port: Number(new URL(harness.simulator.url).port) })
  expect(await second.catch(String)).toContain('in use')
})

const OPTIONS = { clock: systemClock, clientId: 'app', clientSecret: 'secret' }

/** A client that has sent a request. */
async function ask(at: ReservedSimulator) {
  const { hostname, port } = new URL(at.url)
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  socket.write('GET /restapi HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  return socket
}

test('requests before the simulator is loaded are answered once it is loaded, unless their client has left', async () => {
  const reserved = await reserveSimulator()
  const left = await ask(reserved)
  left.resetAndDestroy()
  await once(left, 'close')
  const early = await ask(reserved)
  const answered = once(early, 'data')
  const simulator = await reserved.start(OPTIONS)
  expect(simulator.url).toBe(reserved.url)
  expect(String(await answered)).toStartWith('HTTP/1.1 200 OK')
  await reserved.stop()
})

test('a reserved simulator has the faults of sockets, too', async () => {
  const reserved = await reserveSimulator()
  const { control } = await reserved.start(OPTIONS)
  control.fault({ route: 'probe', fault: { kind: 'reset' } })
  const client = await ask(reserved)
  const error = await new Promise<NodeJS.ErrnoException>((resolve) => client.on('error', resolve))
  expect(error.code).toBe('ECONNRESET')
  await reserved.stop()
})

test('a stop disconnects clients and frees the port, also if the simulator was never loaded', async () => {
  for (const load of [true, false]) {
    const reserved = await reserveSimulator()
    if (load) await reserved.start(OPTIONS)
    const client = await ask(reserved)
    const closed = new Promise((resolve) => client.on('error', resolve).on('close', resolve))
    await reserved.stop()
    await closed
    expect(await fetch(reserved.url).catch(String)).toContain('connect')
  }
})

test('a reserved simulator refuses to start in production', async () => {
  const reserved = await reserveSimulator()
  const started = reserved.start({ ...OPTIONS, environment: 'production' })
  expect(await started.catch(String)).toContain('refuses to run in production')
  await reserved.stop()
})
