import { expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { HttpConnectionPool } from '../../../src/net/http/http-connection-pool.ts'
import { rawServer } from '../../provider/ringcentral/servers.ts'
import { type ExchangeResult, MAX_HEAD_BYTES, endpointAt, exchange, request } from './exchanges.ts'

// A hostile response must not end at another byte than the server meant, use unlimited memory, or be accepted although it
// is not a response.

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const ok = (...headers: string[]): string => ['HTTP/1.1 200 OK', ...headers, 'Content-Length: 2', '', 'ok'].join('\r\n')

interface TwoExchanges extends ExchangeResult {
  /** How many connections the two requests used. */
  connections: number
}

/** Sends two requests. The number of connections shows whether the first one was kept. */
async function sendTwice(behave: (socket: Socket) => void): Promise<TwoExchanges> {
  await using server = await rawServer((socket) => void socket.setNoDelay().on('data', () => behave(socket)))
  const pool = new HttpConnectionPool(endpointAt(server.port), MAX_HEAD_BYTES)
  const ask = (): Promise<ExchangeResult> => exchange((listener) => pool.send(request(), listener))
  const first = await ask()
  await ask()
  return { ...first, connections: server.connections }
}

const says =
  (text: string) =>
  (socket: Socket): void =>
    void socket.write(text, 'latin1')

const refused: [name: string, text: string][] = [
  ['both a length and chunks', ok('Transfer-Encoding: chunked')],
  ['chunks and then a length', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n`],
  ['two lengths', ok('Content-Length: 3')],
  ['a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok'],
  ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok'],
  ['a signed length', 'HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok'],
  ['a hexadecimal length', 'HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok'],
  ['a huge length', 'HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok'],
  ['a space before the colon', 'HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok'],
  ['a bare line feed after the status line', 'HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nok'],
  ['a bare line feed after a header', 'HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nok'],
  ['a carriage return within a header', ok('X: a\rb')],
  ['NUL within a header', ok('X: a\0b')],
  ['a header without a name', ok(': x')],
  ['a header without a colon', ok('what')],
  ['another version', 'HTTP/3.0 200 OK\r\nContent-Length: 2\r\n\r\nok'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nok'],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['TLS', '\x15\x03\x01\x00\x02\x02\x28'],
  ['an invalid chunk size', `${CHUNKED}zz\r\n`],
  ['a negative chunk size', `${CHUNKED}-2\r\nok\r\n0\r\n\r\n`],
  ['a chunk size with a prefix', `${CHUNKED}0x2\r\nok\r\n0\r\n\r\n`],
  ['a huge chunk size', `${CHUNKED}fffffffffffffffff\r\n`],
  ['a chunk that is longer than its size', `${CHUNKED}1\r\nok\r\n0\r\n\r\n`],
  ['a bare line feed after a chunk size', `${CHUNKED}2\nok\r\n0\r\n\r\n`],
]
test.each(refused)('a response with %s is refused and its connection closed', async (_name, text) => {
  const { failure, connections } = await sendTwice(says(text))
  expect(failure).toMatchObject({ code: expect.stringMatching(/^HPE_/), neverLeft: false })
  expect(connections).toBe(2)
})

const endless: [name: string, start: string, piece: string][] = [
  ['empty lines', '', '\r\n'.repeat(2000)],
  ['headers', 'HTTP/1.1 200 OK\r\n', 'X: y\r\n'.repeat(500)],
  ['one header', 'HTTP/1.1 200 OK\r\nX: ', 'y'.repeat(4000)],
  ['headers of an interim response', 'HTTP/1.1 103 Early Hints\r\n', 'X: y\r\n'.repeat(500)],
  ['one chunk extension', `${CHUNKED}1;x=`, 'y'.repeat(4000)],
  ['trailers', `${CHUNKED}2\r\nok\r\n0\r\n`, 'X: y\r\n'.repeat(500)],
  ['chunk sizes with extensions', CHUNKED, `1;${'x'.repeat(50)}\r\na\r\n`.repeat(50)],
]
test.each(endless)('endless %s end the exchange', async (_name, start, piece) => {
  let written = 0
  const flood = (socket: Socket): void => {
    socket.write(start)
    const pour = (): void => {
      while (!socket.destroyed && written < 100_000_000 && socket.write(piece)) written += piece.length
    }
    socket.on('drain', pour)
    pour()
  }
  await using server = await rawServer((socket) => void socket.once('data', () => flood(socket)))
  const pool = new HttpConnectionPool(endpointAt(server.port), MAX_HEAD_BYTES)
  const { failure } = await exchange((listener) => pool.send(request(), listener))
  expect(failure).toMatchObject({ code: 'HPE_HEADER_OVERFLOW' })
})

test('a response with too many header bytes has no head, even if it comes in one packet', async () => {
  const { head, failure, connections } = await sendTwice(says(ok(`X: ${'y'.repeat(MAX_HEAD_BYTES)}`)))
  expect({ head, code: failure?.code, connections }).toEqual({
    head: null,
    code: 'HPE_HEADER_OVERFLOW',
    connections: 2,
  })
})

const complete: [name: string, text: string, status: number, body: string][] = [
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 204, ''],
  ['304 with a length', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n', 304, ''],
  ['100 before the response', `HTTP/1.1 100 Continue\r\n\r\n${ok()}`, 200, 'ok'],
  ['empty headers', ok('X:', 'Y: '), 200, 'ok'],
  ['chunks with extensions and trailers', `${CHUNKED}2;a=b\r\nok\r\n0\r\nX: y\r\n\r\n`, 200, 'ok'],
  ['no chunk at all', `${CHUNKED}0\r\n\r\n`, 200, ''],
]
test.each(complete)('%s is a complete response and its connection kept', async (_name, text, status, body) => {
  expect(await sendTwice(says(text))).toMatchObject({ head: { status }, body, failure: null, connections: 1 })
})

test('a response of many small chunks is read', async () => {
  const body = 'a'.repeat(300_000)
  const text = `${CHUNKED}${'1\r\na\r\n'.repeat(body.length)}0\r\n\r\n`
  expect(await sendTwice(says(text))).toMatchObject({ body, failure: null, connections: 1 })
})

test('a response that arrives byte by byte is read', async () => {
  const text = `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${CHUNKED.replace('\r\n', '\r\nX-Name: a value \r\n')}2\r\nok\r\n0\r\n\r\n`
  const { head, body, failure } = await sendTwice((socket) => {
    const bytes = [...Buffer.from(text)]
    const next = (): void => {
      const byte = bytes.shift()
      if (byte !== undefined) socket.write(Uint8Array.of(byte), () => setImmediate(next))
    }
    next()
  })
  expect({ failure, body, value: head?.header('x-name') }).toEqual({ failure: null, body: 'ok', value: 'a value' })
})
