import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { exchange, parseAnswers } from '../../support/raw-http.ts'
import { FROM, TO, type World, createWorld } from '../../support/world.ts'

const LIMIT = 102_400

const quiet = (): Promise<World> => createWorld({ connect: false, work: false })

/** Returns a valid request of exactly `bytes` bytes. */
function message(bytes: number): string {
  const text = JSON.stringify({ to: TO, from: FROM, body: 'Hi', padding: '' })
  return text.replace('"padding":""', `"padding":"${'x'.repeat(bytes - text.length)}"`)
}

function chunked(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.slice(at, (at += 10_000)))
    },
  })
}

const post = (world: World, body: string | ReadableStream<Uint8Array>): Promise<Response> =>
  fetch(`${world.url}/v1/sms/send`, { method: 'POST', headers: { authorization: `Bearer ${world.key}` }, body })

test('a body may have 102,400 bytes, but not one more', async () => {
  await using world = await quiet()
  expect((await post(world, message(LIMIT))).status).toBe(202)
  await expectError(await post(world, message(LIMIT + 1)), 413, 'Payload too large')
})

test('the limit applies to a body without a Content-Length', async () => {
  await using world = await quiet()
  expect((await post(world, chunked(message(LIMIT)))).status).toBe(202)
  await expectError(await post(world, chunked(message(LIMIT + 1))), 413, 'Payload too large')
})

test('the limit counts bytes, not characters', async () => {
  await using world = await quiet()
  await expectError(await post(world, JSON.stringify({ body: 'é'.repeat(LIMIT / 2) })), 413, 'Payload too large')
})

test('a body of megabytes gets the same error', async () => {
  await using world = await quiet()
  await expectError(await post(world, 'x'.repeat(5_000_000)), 413, 'Payload too large')
})

test('a too large Content-Length is refused without waiting for the body', async () => {
  await using world = await quiet()
  const head = `POST /v1/sms/send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${world.key}\r\nContent-Length: 999999999\r\n\r\n{`
  const [answer] = parseAnswers(await exchange(world.url, head))
  expect(answer).toMatchObject({ status: 413, body: '{"error":"Payload too large"}' })
  expect(answer?.headers['connection']?.toLowerCase()).toBe('close')
})

test('an endless chunked body is cut off at the limit', async () => {
  await using world = await quiet()
  const chunk = `1a000\r\n${'x'.repeat(0x1a000)}\r\n`
  const head = `POST /v1/sms/send HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${world.key}\r\nTransfer-Encoding: chunked\r\n\r\n`
  const [answer] = parseAnswers(await exchange(world.url, head + chunk))
  expect(answer).toMatchObject({ status: 413, body: '{"error":"Payload too large"}' })
})

test('the limit applies to open endpoints, to GET and to unknown paths', async () => {
  await using world = await quiet()
  const big = 'x'.repeat(LIMIT + 1)
  await expectError(await world.call('POST', '/v1/rc/connect', { key: null, body: big }), 413, 'Payload too large')
  await expectError(await world.call('POST', '/nothing', { key: null, body: big }), 413, 'Payload too large')
  const get = `GET /v1/apps HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${world.key}\r\nContent-Length: ${big.length}\r\n\r\n${big}`
  expect(parseAnswers(await exchange(world.url, get))[0]?.status).toBe(413)
})
