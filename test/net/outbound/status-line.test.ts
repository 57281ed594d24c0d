import { describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { systemClock } from '../../../src/core/clock.ts'
import { AddressGuard } from '../../../src/net/outbound/address-guard.ts'
import { type PostResult, WebhookPoster } from '../../../src/net/outbound/webhook-poster.ts'
import { seededRandom } from '../../../src/simulator/random.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { until } from '../../support/world.ts'
import * as to from './destinations.ts'

// A destination that has sent a final status line has taken the message, or refused it. Nothing after that line changes the outcome.

const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const LENGTH = 'Content-Length: 2\r\n'

async function outcomeOf(behaviour: to.Behaviour, options: Partial<PosterOptions> = {}): Promise<PostResult> {
  await using destination = await to.startDestination(behaviour)
  return await post(options, `http://127.0.0.1:${destination.port}/hook`)
}

type PosterOptions = ConstructorParameters<typeof WebhookPoster>[0]

function post(options: Partial<PosterOptions>, url: string): Promise<PostResult> {
  const guard = new AddressGuard({ production: false, allowCidrs: [] })
  const poster = new WebhookPoster({ guard, clock: systemClock, ...options })
  return poster.post({ url, tenantId: 'ten_1', body: '{}', headers: {} })
}

const success = { outcome: 'success', statusCode: 200, errorClass: null, errorMessage: null }
const refused = (statusCode: number): object => ({ outcome: 'http_error', statusCode, errorClass: null })
const noStatus = (errorClass: RegExp): object => ({
  outcome: 'network_error',
  statusCode: null,
  errorClass: expect.stringMatching(errorClass),
  snippet: null,
})

describe('a final status line decides, although', () => {
  const endings: [name: string, rest: string | Uint8Array][] = [
    ['the length comes twice', `${LENGTH}${LENGTH}\r\nok`],
    ['the lengths contradict', `${LENGTH}Content-Length: 3\r\n\r\nok`],
    ['there are a length and chunks', `${LENGTH}${CHUNKED}\r\n2\r\nok\r\n0\r\n\r\n`],
    ['a header is folded', `X-A: b\r\n c\r\n${LENGTH}\r\nok`],
    ['the headers are over 16 KB', `X-A: ${'b'.repeat(20_000)}\r\n${LENGTH}\r\nok`],
    ['a header has no colon', `what\r\n${LENGTH}\r\nok`],
    ['a header has NUL', `X-A: \0\r\n${LENGTH}\r\nok`],
    ['the length is no number', 'Content-Length: two\r\n\r\nok'],
    ['the lines end with a line feed alone', 'X-A: b\nContent-Length: 2\n\nok'],
    ['the headers are cut off', 'X-A: b\r\nContent-Le'],
    ['nothing follows', ''],
    ['bytes of no protocol follow', Uint8Array.of(0, 1, 255, 10, 13, 0)],
    ['another status line follows', 'HTTP/1.1 500 No\r\n\r\n'],
    ['a chunk has no size', `${CHUNKED}\r\nZZ\r\n`],
  ]
  test.concurrent.each(endings)('%s', async (_name, rest) => {
    expect(await outcomeOf(to.says('HTTP/1.1 200 OK\r\n', rest))).toMatchObject(success)
    expect(await outcomeOf(to.says('HTTP/1.1 302 Found\r\n', rest))).toMatchObject(refused(302))
    expect(await outcomeOf(to.says('HTTP/1.1 500 No\r\n', rest))).toMatchObject(refused(500))
  })

  const lines: [name: string, line: string][] = [
    ['it has no reason', 'HTTP/1.1 200\r\n'],
    ['its reason is empty', 'HTTP/1.1 200 \r\n'],
    ['its reason is not ASCII', 'HTTP/1.1 200 Größe\r\n'],
    ['its version is 1.0', 'HTTP/1.0 200 OK\r\n'],
    ['its version is another one', 'HTTP/3.0 200 OK\r\n'],
    ['it ends with a line feed alone', 'HTTP/1.1 200 OK\n'],
    ['empty lines come before it', '\r\n\r\nHTTP/1.1 200 OK\r\n'],
    [
      'interim responses come before it',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 H\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n',
    ],
    ['an interim response is malformed', `HTTP/1.1 100 C\r\n${LENGTH}A: b\r\n c\r\nwhat\r\n\r\nHTTP/1.1 200 OK\r\n`],
  ]
  test.concurrent.each(lines)('%s', async (_name, line) => {
    expect(await outcomeOf(to.says(line, `${LENGTH}\r\nok`))).toMatchObject(success)
    expect(await outcomeOf(inSinglePackets(line))).toMatchObject(success)
  })

  test('the connection is reset after it', async () => {
    const answer = await outcomeOf((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      setImmediate(() => socket.resetAndDestroy())
    })
    expect(answer).toMatchObject(success)
  })

  test('TLS breaks after it', async () => {
    const breaks = (socket: Socket): void => void socket.write('HTTP/1.1 200 OK\r\n', () => socket.destroy())
    await using destination = await to.startTlsDestination(breaks)
    expect(await post({ ca: to.CERTIFICATE }, `https://127.0.0.1:${destination.port}/`)).toMatchObject(success)
  })

  test('it comes at the last moment, and nothing follows', async () => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<Socket>()
    const clock = manualClock()
    let timers = 0
    const counting = { ...clock, after: (ms: number, run: () => void) => (timers++, clock.after(ms, run)) }
    const answer = outcomeOf(ask, { clock: counting })
    const socket = await asked
    clock.advance(4900)
    socket.write('HTTP/1.1 200 OK\r\n')
    // The second timer is that of the snippet.
    await until(() => timers === 2)
    clock.advance(100)
    expect(await answer).toMatchObject({ ...success, durationMs: 4900, snippet: '' })
  })
})

describe('without a final status line there is no status', () => {
  const cut: [name: string, text: string, errorClass: RegExp][] = [
    ['it is cut in the middle', 'HTTP/1.1 200', /^ECONNRESET$/],
    ['it is cut before its end', 'HTTP/1.1 200 OK\r', /^ECONNRESET$/],
    ['only interim responses came', 'HTTP/1.1 100 Continue\r\n\r\n', /^ECONNRESET$/],
    ['HTTP/0.9', '<html>200 OK</html>', /^HPE_/],
    ['HTTP/0.9 in lines', 'ok\r\n', /^HPE_/],
    ['HTTP in lower case', 'http/1.1 200 OK\r\n\r\n', /^HPE_/],
    ['another protocol', 'ICY 200 OK\r\n\r\n', /^HPE_/],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n', /^HPE_/],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', /^HPE_/],
    ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n', /^HPE_/],
    ['no version', 'HTTP 200 OK\r\n\r\n', /^HPE_/],
    ['a status line in the fields of an interim response', 'HTTP/1.1 103 H\r\nHTTP/1.1 200 OK\r\n', /^ECONNRESET$/],
  ]
  test.concurrent.each(cut)('%s', async (_name, text, errorClass) => {
    expect(await outcomeOf(to.says(text))).toMatchObject(noStatus(errorClass))
  })

  test.each(['SSH-2.0-OpenSSH', '\0\x01', '\r\n<html>'])('%j is refused without waiting for its end', async (text) => {
    // The clock stands still, so no time limit ends this POST.
    expect(await outcomeOf(to.saysAndHangs(text), { clock: manualClock() })).toMatchObject(noStatus(/^HPE_/))
  })

  const endless: [name: string, start: string, piece: string][] = [
    ['one line', 'HTTP/1.1 200 ', 'x'.repeat(1000)],
    ['empty lines', '', '\r\n'.repeat(500)],
    ['fields of an interim response', 'HTTP/1.1 103 Early Hints\r\n', 'X-A: b\r\n'.repeat(500)],
  ]
  test.each(endless)('endless: %s', async (_name, start, piece) => {
    expect(await outcomeOf(to.floods(start, piece), { clock: manualClock() })).toMatchObject(noStatus(/^HPE_HEADER_O/))
  })
})

test('Retry-After counts although the headers come later than the status line', async () => {
  const text = 'HTTP/1.1 503 No\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\nok'
  expect(await outcomeOf(inSinglePackets(text))).toMatchObject({ ...refused(503), retryAfterMs: 7000, snippet: 'ok' })
})

test('whatever bytes follow a status line, in whatever packets, the outcome is that of the line', async () => {
  const seed = Date.now() % 1_000_000
  console.log(`seed ${seed}`)
  const runs = Array.from({ length: 300 }, (_, run) => seed + run)
  for (let start = 0; start < runs.length; start += 30)
    await Promise.all(runs.slice(start, start + 30).map((run) => expectOutcomeOfLine(run)))
})

const LINES = [
  ['HTTP/1.1 200 OK\r\n', success],
  ['HTTP/1.1 200\r\n', success],
  ['HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n', success],
  ['HTTP/1.0 404 Not Found\r\n', refused(404)],
  ['HTTP/1.1 301 Moved\r\n', refused(301)],
  ['HTTP/1.1 101 Switching\r\n', refused(101)],
] as const
const PIECES = [
  LENGTH,
  'Content-Length: 99999999999999999999\r\n',
  CHUNKED,
  'Transfer-Encoding: gzip, x\r\n',
  'Connection: upgrade\r\n',
  'Upgrade: h2c\r\n',
  'A: b\r\n',
  ' folded\r\n',
  '\r\n',
  '\n',
  '\r',
  '\0',
  ':',
  'HTTP/1.1 500 No\r\n',
  'HTTP/1.1 204 No\r\n\r\n',
  '2\r\nok\r\n',
  'ffffffff\r\n',
  '0\r\n\r\n',
  'x'.repeat(9000),
]

async function expectOutcomeOfLine(seed: number): Promise<void> {
  const random = seededRandom(seed)
  const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const [line, result] = oneOf(LINES)
  const noise = (): Buffer => Buffer.from(Array.from({ length: 40 }, () => Math.floor(random() * 256)))
  const pieces = Array.from({ length: Math.floor(random() * 8) }, () =>
    random() < 0.2 ? noise() : Buffer.from(oneOf(PIECES)),
  )
  const bytes = Buffer.concat([Buffer.from(line), ...pieces])
  const packets: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const size = 1 + Math.floor(random() ** 4 * bytes.length)
    packets.push(bytes.subarray(at, (at += size)))
  }
  expect({ seed, ...(await outcomeOf(inPackets(packets))) }).toMatchObject({ seed, ...result })
}

const inSinglePackets = (text: string): to.Behaviour =>
  inPackets(Array.from(Buffer.from(text), (byte) => Buffer.of(byte)))

/** Sends these packets one after another, and closes. */
const inPackets =
  (packets: readonly Buffer[]): to.Behaviour =>
  (socket) => {
    socket.setNoDelay()
    const sendFrom = (index: number): void => {
      const packet = packets[index]
      if (packet === undefined) return void socket.end()
      socket.write(packet)
      setImmediate(() => sendFrom(index + 1))
    }
    sendFrom(0)
  }
