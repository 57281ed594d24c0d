import { expect, test } from 'bun:test'
import { exchange, parseAnswers } from '../../support/raw-http.ts'
import { type World, createWorld } from '../../support/world.ts'

// Bun 1.4.4 accepts a request and drops its answer if certain bytes follow it in the same packet. docs/send.md tells users so beside
// `Idempotency-Key`. If one of these tests fails, Bun has mended it: delete the test and the sentence of the manual.

const TEXT = JSON.stringify({ to: '+15555550199', from: '+15555550100', body: 'Hello' })

const head = ({ key }: World, length: string): string =>
  ['POST /v1/sms/send HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${key}`, length, '', ''].join('\r\n')
const counted = (world: World): string => `${head(world, `Content-Length: ${TEXT.length}`)}${TEXT}`
const chunked = (world: World, trailers: string): string =>
  `${head(world, 'Transfer-Encoding: chunked')}${TEXT.length.toString(16)}\r\n${TEXT}\r\n0\r\n${trailers}\r\n`

/** The first status that the client reads, and how many messages were accepted. */
async function outcome(world: World, bytes: string): Promise<{ status: number | undefined; accepted: number }> {
  const [answer] = parseAnswers(await exchange(world.url, bytes))
  const { body } = await world.json<{ total: number }>('GET', '/v1/sms/messages')
  return { status: answer?.status, accepted: body.total }
}

test('a request with nothing after it is answered', async () => {
  await using world = await createWorld({ work: false })
  expect(await outcome(world, counted(world))).toEqual({ status: 202, accepted: 1 })
  expect(await outcome(world, chunked(world, ''))).toEqual({ status: 202, accepted: 2 })
})

test('Bun: an empty line after the body turns the answer of an accepted message into a 400', async () => {
  await using world = await createWorld({ work: false })
  expect(await outcome(world, `${counted(world)}\r\n`)).toEqual({ status: 400, accepted: 1 })
})

test('Bun: trailer fields turn the answer of an accepted message into a 400', async () => {
  await using world = await createWorld({ work: false })
  expect(await outcome(world, chunked(world, 'X-Checksum: 1\r\n'))).toEqual({ status: 400, accepted: 1 })
})

test('Bun: a second request in the same packet leaves an accepted message without an answer', async () => {
  await using world = await createWorld({ work: false })
  const { status, accepted } = await outcome(world, counted(world) + counted(world))
  expect(status).toBeUndefined()
  expect(accepted).toBeGreaterThan(0)
})
