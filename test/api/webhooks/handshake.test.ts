import { expect, test } from 'bun:test'
import { postEvent, smsEvent, inboundMessages, subscribe } from '../../support/provider-events.ts'
import { ask, exchange } from '../../support/raw-http.ts'
import { createWorld } from '../../support/world.ts'

const PATH = '/v1/webhooks/provider'
const lines = (token: string, more: string[] = []): string[] => [
  `POST ${PATH} HTTP/1.1`,
  'Host: gateway',
  'Content-Type: application/json',
  'Content-Length: 0',
  `Validation-Token: ${token}`,
  ...more,
]

test('the answer to a handshake is an empty 200 with its header, of at most 1024 bytes including headers', async () => {
  const origin = `https://${'o'.repeat(60)}.example.com`
  await using world = await createWorld({ connect: false, env: { CORS_ORIGINS: origin } })
  for (const token of ['wtdwi2y88489yr34iwegsekshwekfhsdfh', 'x', '!"#$%&()*+,-./~', 'a'.repeat(450)]) {
    // The answer has the longest request id and the headers for a browser.
    const request = `${lines(token, [`X-Request-Id: ${'r'.repeat(128)}`, `Origin: ${origin}`]).join('\r\n')}\r\n\r\n`
    const raw = await exchange(world.url, request, (text) => text.endsWith('\r\n\r\n'))
    expect(raw).toStartWith('HTTP/1.1 200 OK\r\n')
    expect(Buffer.byteLength(raw, 'latin1')).toBeLessThanOrEqual(1024)
    const answer = await ask(world.url, lines(token))
    expect(answer.headers).toMatchObject({
      'validation-token': token,
      'content-type': 'application/json',
      'content-length': '0',
    })
    expect(answer.body).toBe('')
  }
})

test('a request whose token is too long or not visible ASCII is not a handshake', async () => {
  await using world = await createWorld({ connect: false })
  for (const token of ['a'.repeat(451), 'a b', 'ü', 'a\tb', '']) {
    const answer = await ask(world.url, lines(token))
    expect(answer.status).toBe(401)
    expect(answer.headers['validation-token']).toBeUndefined()
    expect(JSON.parse(answer.body)).toEqual({ error: 'Invalid verification token' })
  }
})

test('a handshake needs no verification token, and an event with an unknown one is not stored', async () => {
  await using world = await createWorld({ connect: false })
  for (const body of [smsEvent(), '{broken', 'x'.repeat(1000)]) {
    const answer = await postEvent(world, 'unknown', body, { 'validation-token': 'hello' })
    expect([answer.status, answer.headers.get('validation-token'), await answer.text()]).toEqual([200, 'hello', ''])
  }
  expect((await inboundMessages(world)).total).toBe(0)
})

test('an event that is also a handshake is stored and answered as a handshake', async () => {
  await using world = await createWorld()
  const token = await subscribe(world)
  const answer = await postEvent(world, token, smsEvent(), { 'validation-token': 'hello' })
  expect([answer.status, answer.headers.get('validation-token')]).toEqual([200, 'hello'])
  expect((await inboundMessages(world)).total).toBe(1)
})

test('an event may have its token in Validation-Token instead, which is echoed as ever', async () => {
  await using world = await createWorld()
  const token = await subscribe(world)
  const post = async (verification: string | null, validation: string, id: string) => {
    const answer = await postEvent(world, verification, smsEvent({ id }), { 'validation-token': validation })
    return [answer.status, answer.headers.get('validation-token'), (await inboundMessages(world)).total]
  }
  expect(await post(null, `${token}x`, '1')).toEqual([200, `${token}x`, 0])
  expect(await post('wrong', token, '2')).toEqual([200, token, 0])
  expect(await post(null, token, '3')).toEqual([200, token, 1])
})

test('the handshake is answered while the call that creates the subscription is open', async () => {
  await using world = await createWorld({ connect: false })
  expect((await world.connect()).status).toBe(200)
  expect(world.control.subscriptions()).toMatchObject([{ status: 'Active', address: `${world.url}${PATH}` }])
})

test('other methods are not found', async () => {
  await using world = await createWorld({ connect: false })
  for (const method of ['GET', 'PUT', 'DELETE']) expect((await world.call(method, PATH)).status).toBe(404)
})
