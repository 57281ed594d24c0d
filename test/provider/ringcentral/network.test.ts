import { describe, expect, test } from 'bun:test'
import net from 'node:net'
import type { Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import tls from 'node:tls'
import { authority, expired, key, otherName, selfSigned, valid } from './certificates.ts'
import { ACCESS_TOKEN, clientOf, deadPort, failureOf, rawServer, valueOf } from './servers.ts'

const SMS = { from: '+16505550101', to: '+16505550123', text: 'Hello' }
const TIMEOUT_MS = 150
/** For calls that end otherwise, which may take long on a busy machine. */
const PATIENT_MS = 10_000
const EXTENSION = 'HTTP/1.1 200 OK\r\ncontent-length: 30\r\n\r\n{"id":1,"account":{"id":"22"}}'
const hasIPv6 = Object.values(networkInterfaces()).some((list) => list?.some((entry) => entry.address === '::1'))

const failureAt = async (url: string, ca: string | null = null, timeoutMs = PATIENT_MS) =>
  failureOf(await clientOf(url, { timeoutMs, ...(ca === null ? {} : { ca }) }).sendSms(ACCESS_TOKEN, SMS))

const timeoutFor = (code: string): number => (code === 'TimeoutError' ? TIMEOUT_MS : PATIENT_MS)

describe('the request never left if', () => {
  test('no server listens', async () => {
    const failure = await failureAt(`http://127.0.0.1:${await deadPort()}`)
    expect(failure).toEqual({
      reason: 'unreachable',
      status: null,
      code: 'ECONNREFUSED',
      message: 'The provider could not be reached (ECONNREFUSED)',
      oauthError: null,
      retryAfterMs: null,
      requestId: null,
    })
  })

  test('the name does not resolve', async () => {
    // A label of 64 characters fails in the resolver library, without a query to a name server.
    const failure = await failureAt(`http://${'a'.repeat(64)}.invalid`)
    expect(failure).toMatchObject({ reason: 'unreachable', code: 'ENOTFOUND' })
  })

  test('the certificate is self-signed', async () => {
    let requests = 0
    await using server = await rawServer(() => (requests += 1), tls.createServer({ key, cert: selfSigned }))
    const failure = await failureAt(`https://localhost:${server.port}`)
    expect(failure).toMatchObject({ reason: 'unreachable', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  })

  const certificates: [name: string, cert: string, code: string, ca: string | null][] = [
    ['from an unknown authority', valid, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', null],
    ['expired', expired, 'CERT_HAS_EXPIRED', authority],
    ['for another name', otherName, 'ERR_TLS_CERT_ALTNAME_INVALID', authority],
  ]
  test.each(certificates)('the certificate is %s', async (_name, cert, code, ca) => {
    let bytes = 0
    await using server = await rawServer(countBytes, tls.createServer({ key, cert }))
    const failure = await failureAt(`https://localhost:${server.port}`, ca)
    expect(failure).toMatchObject({ reason: 'unreachable', code })
    expect(bytes).toBe(0)

    function countBytes(socket: Socket): void {
      socket.on('data', (data) => (bytes += data.length))
    }
  })

  const handshakes: [name: string, behaviour: (socket: Socket) => void, code: string][] = [
    [
      'no TLS where TLS is expected',
      (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      'ERR_SSL_WRONG_VERSION_NUMBER',
    ],
    ['a connection that is reset within the handshake', (socket) => socket.resetAndDestroy(), 'ECONNRESET'],
    ['a connection that ends within the handshake', (socket) => socket.end(), 'ECONNRESET'],
    ['a handshake that never ends', () => {}, 'TimeoutError'],
  ]
  test.each(handshakes)('%s', async (_name, behaviour, code) => {
    await using server = await rawServer(onRequest(behaviour))
    const failure = await failureAt(`https://localhost:${server.port}`, null, timeoutFor(code))
    expect(failure).toMatchObject({ reason: 'unreachable', code })
  })
})

const onRequest = (answer: (socket: Socket) => void) => (socket: Socket) =>
  void socket.once('data', () => answer(socket))

describe('the request may have arrived', () => {
  const head = 'HTTP/1.1 200 OK\r\n'

  const rows: [name: string, behaviour: (socket: Socket) => void, code: string, status: number | null][] = [
    ['reset before reading', (socket) => socket.resetAndDestroy(), 'ECONNRESET', null],
    ['reset after reading', onRequest((socket) => socket.resetAndDestroy()), 'ECONNRESET', null],
    ['closed before reading', (socket) => socket.end(), 'ECONNRESET', null],
    ['closed without an answer', onRequest((socket) => socket.end()), 'ECONNRESET', null],
    ['no answer', () => {}, 'TimeoutError', null],
    ['endless headers', drip(`${head}X: `), 'TimeoutError', null],
    ['an endless body', drip(`${head}content-length: 9999\r\n\r\n`), 'TimeoutError', 200],
    ['endless interim answers', drip('', 'HTTP/1.1 100 Continue\r\n\r\n'), 'TooManyInterimResponses', null],
    ['garbage', onRequest((socket) => socket.end('hello there\r\n\r\n')), 'HPE_INVALID_CONSTANT', null],
    ['incomplete headers', onRequest((socket) => socket.end(`${head}conte`)), 'ECONNRESET', null],
    [
      'an incomplete body',
      onRequest((socket) => socket.end(`${head}content-length: 99\r\n\r\n{"id":1}`)),
      'ECONNRESET',
      200,
    ],
    [
      'incomplete chunks',
      onRequest((socket) => socket.end(`${head}transfer-encoding: chunked\r\n\r\n9\r\n{`)),
      'ECONNRESET',
      200,
    ],
    [
      'a broken chunk',
      onRequest((socket) => socket.end(`${head}transfer-encoding: chunked\r\n\r\nzz\r\n{`)),
      'HPE_INVALID_CHUNK_SIZE',
      200,
    ],
    [
      'two lengths',
      onRequest((socket) => socket.end(`${head}content-length: 1\r\ncontent-length: 2\r\n\r\n{}`)),
      'HPE_UNEXPECTED_CONTENT_LENGTH',
      null,
    ],
    [
      'a header of 10 MB',
      onRequest((socket) => socket.end(`${head}X: ${'a'.repeat(1e7)}\r\n\r\n`)),
      'HPE_HEADER_OVERFLOW',
      null,
    ],
    [
      'another protocol',
      onRequest((socket) => socket.write('HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n')),
      'UnrequestedUpgrade',
      null,
    ],
  ]
  test.each(rows)('%s', async (_name, behaviour, code, status) => {
    await using server = await rawServer(behaviour)
    const failure = await failureAt(server.url, null, timeoutFor(code))
    expect(failure).toMatchObject({ reason: 'ambiguous', code, status, retryAfterMs: null })
    expect(server.connections).toBe(1)
  })

  test('a TLS record that is corrupt after the server has read the request', async () => {
    let requests = 0
    const answer = (socket: Socket) =>
      void socket.on('data', () => (requests++, socket.write(`${head}content-length: 0\r\n\r\n`)))
    await using server = await rawServer(answer, tls.createServer({ key, cert: valid }))
    await using line = await rawServer((near) => {
      const far = net.connect(server.port, '127.0.0.1').on('error', () => {})
      near.on('data', (data) => far.write(data)).on('close', () => far.destroy())
      far.on('data', (data) => near.write(requests === 0 ? data : withLastByteFlipped(Buffer.from(data))))
    })
    const failure = await failureAt(`https://localhost:${line.port}`, authority)
    expect(requests).toBe(1)
    expect(failure).toMatchObject({ reason: 'ambiguous', code: expect.stringMatching(/^ERR_SSL_/) as string })
  })

  function drip(first: string, more = 'a'): (socket: Socket) => void {
    return (socket) => {
      socket.write(first)
      const timer = setInterval(() => socket.write(more), 10)
      socket.on('data', () => {}).on('close', () => clearInterval(timer))
    }
  }

  const withLastByteFlipped = (data: Buffer): Buffer =>
    Buffer.from(data.map((byte, index) => (index === data.length - 1 ? byte ^ 1 : byte)))
})

test("a refusal whose body breaks off is not known to be the provider's", async () => {
  const answer = 'HTTP/1.1 403 Forbidden\r\ncontent-length: 99\r\n\r\n{"errors":[{"errorCode":"MSG-304"'
  await using server = await rawServer((socket) => void socket.once('data', () => socket.end(answer)))
  expect(await failureAt(server.url)).toMatchObject({ reason: 'intercepted', status: 403, code: null })
})

test('a call that takes too long closes its connection', async () => {
  const over = Promise.withResolvers<void>()
  await using server = await rawServer((socket) => socket.on('data', () => {}).on('close', () => over.resolve()))
  expect(await failureAt(server.url, null, TIMEOUT_MS)).toMatchObject({ code: 'TimeoutError' })
  await over.promise
})

test('an answer may have 256 KiB and not one byte more, also in small chunks', async () => {
  const limit = 256 * 1024
  const padded = (bytes: number): string => '{"id":1,"account":{"id":"22"}}'.padEnd(bytes, ' ')
  const complete = (bytes: number): string => `HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n\r\n${padded(bytes)}`
  const pieces = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${Array.from(padded(limit), (one) => `1\r\n${one}\r\n`).join('')}0\r\n\r\n`
  for (const [text, code] of [
    [complete(limit), 'read'],
    [pieces, 'read'],
    [complete(limit + 1), 'ERR_ANSWER_TOO_LARGE'],
  ] as const) {
    await using server = await rawServer((socket) => socket.on('data', () => socket.write(text)))
    const result = await clientOf(server.url).getExtension(ACCESS_TOKEN)
    expect(result.ok ? 'read' : result.failure.code).toBe(code)
  }
})

test('the server gets its name by SNI, and in the Host header with an unusual port', async () => {
  const names: string[] = []
  const heads: string[] = []
  const SNICallback = (name: string, done: (error: null) => void): void => (names.push(name), done(null))
  const answer = (socket: Socket) =>
    void socket.on('data', (data) => (heads.push(data.toString()), socket.write(EXTENSION)))
  await using server = await rawServer(answer, tls.createServer({ key, cert: valid, SNICallback }))
  const client = clientOf(`https://localhost:${server.port}`, { ca: authority })
  expect(valueOf(await client.getExtension(ACCESS_TOKEN)).extensionId).toBe('1')
  expect(names).toEqual(['localhost'])
  expect(heads[0]).toContain(`\r\nHost: localhost:${server.port}\r\n`)
})

test.skipIf(!hasIPv6)('a server may be named by its IPv6 address', async () => {
  using server = Bun.serve({ port: 0, hostname: '::1', fetch: () => Response.json({ id: 1, account: { id: '22' } }) })
  const client = clientOf(`http://[::1]:${server.port}`)
  expect(valueOf(await client.getExtension(ACCESS_TOKEN)).extensionId).toBe('1')
})

test('a user agent that cannot be sent in a header is refused at once', () => {
  expect(() => clientOf('http://127.0.0.1:1', { userAgent: 'sgw\r\nX: y' })).toThrow()
})
