import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import { HttpConnection } from '../../../src/net/http/http-connection.ts'
import { HttpResponseReader } from '../../../src/net/http/http-response-reader.ts'
import { authority, key, otherName, valid } from '../../provider/ringcentral/certificates.ts'
import { deadPort, rawServer } from '../../provider/ringcentral/servers.ts'
import { MAX_HEAD_BYTES, ask, dial, exchange, request } from './exchanges.ts'

/** Answers each request with these texts, one write after another. */
const answers =
  (...texts: string[]) =>
  (socket: Socket): void =>
    void socket.setNoDelay().on('data', () => writeAll(socket, texts))

function writeAll(socket: Socket, [first, ...rest]: readonly string[]): void {
  if (first !== undefined) socket.write(first, 'latin1', () => setImmediate(() => writeAll(socket, rest)))
}

const OK = 'HTTP/1.1 200 OK\r\nDate: now\r\nContent-Length: 5\r\n\r\nhello'
const CHUNKED =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nDate: now\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\nX-T: 1\r\n\r\n'
const HINTED = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'

describe('a response', () => {
  const forms: [name: string, text: string][] = [
    ['with a length', OK],
    ['in chunks, with trailers', CHUNKED],
    ['after an interim one', `${HINTED}${OK}`],
  ]
  test.each(forms)('%s is read, wherever it is split', async (_name, text) => {
    for (let cut = 0; cut <= text.length; cut++) {
      await using server = await rawServer(
        answers(...[text.slice(0, cut), text.slice(cut)].filter((part) => part !== '')),
      )
      const { head, body, failure } = await ask(dial(server.port))
      expect({ cut, failure, body, status: head?.status, date: head?.header('date') }).toEqual({
        cut,
        failure: null,
        body: 'hello',
        status: 200,
        date: 'now',
      })
    }
  })

  test('that ends with the connection is complete', async () => {
    await using server = await rawServer((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nhello'))
    expect(await ask(dial(server.port))).toMatchObject({ body: 'hello', failure: null })
  })

  test('that would end with the connection is incomplete after a reset', async () => {
    const sockets: Socket[] = []
    await using server = await rawServer((socket) => {
      sockets.push(socket)
      socket.write('HTTP/1.0 200 OK\r\n\r\nhello')
    })
    const { head, failure } = await exchange((listener) =>
      dial(server.port).send(request(), { ...listener, body: () => sockets[0]?.resetAndDestroy() }),
    )
    expect(head?.status).toBe(200)
    expect(failure).toMatchObject({ code: 'ECONNRESET', neverLeft: false })
  })

  test('may have a hundred headers', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `X-${index}: ${index}\r\n`).join('')
    await using server = await rawServer(answers(`HTTP/1.1 200 OK\r\n${many}Content-Length: 0\r\n\r\n`))
    const { head } = await ask(dial(server.port))
    expect([head?.header('x-0'), head?.header('x-99'), head?.header('x-100')]).toEqual(['0', '99', null])
  })

  test('may have trailers, which do not count as headers', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `X-${index}: ${index}\r\n`).join('')
    const text = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n${many}\r\n2\r\nok\r\n0\r\nX-T: 1\r\n\r\n`
    await using server = await rawServer(answers(text))
    const { head, body } = await ask(dial(server.port))
    expect([body, head?.header('x-99'), head?.header('x-t')]).toEqual(['ok', '99', null])
  })

  test('may follow seven interim responses, but not eight', async () => {
    await using seven = await rawServer(answers(`${HINTED.repeat(7)}${OK}`))
    expect(await ask(dial(seven.port))).toMatchObject({ body: 'hello', failure: null })
    await using eight = await rawServer(answers(`${HINTED.repeat(8)}${OK}`))
    expect((await ask(dial(eight.port))).failure).toMatchObject({ code: 'TooManyInterimResponses', neverLeft: false })
  })

  test('with a status below 100 is refused', async () => {
    await using server = await rawServer(answers('HTTP/1.1 099 X\r\nContent-Length: 3\r\n\r\nno ', OK))
    expect(await ask(dial(server.port))).toMatchObject({
      head: null,
      body: '',
      failure: { code: 'HPE_INVALID_STATUS' },
    })
  })

  test('that never begins fails', async () => {
    await using server = await rawServer(answers('\r\n'.repeat(MAX_HEAD_BYTES)))
    expect((await ask(dial(server.port))).failure).toMatchObject({ code: 'HPE_HEADER_OVERFLOW' })
  })

  test('of two megabytes is complete and in order', async () => {
    const body = Array.from({ length: 300_000 }, (_, index) => `${index},`).join('')
    await using server = await rawServer(answers(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`))
    expect((await ask(dial(server.port))).body).toBe(body)
  })

  test('with too long headers is refused', async () => {
    await using server = await rawServer(answers(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(MAX_HEAD_BYTES)}\r\n\r\n`))
    expect((await ask(dial(server.port))).failure).toMatchObject({ code: 'HPE_HEADER_OVERFLOW', neverLeft: false })
  })
})

describe('a request', () => {
  test('of eight megabytes arrives completely', async () => {
    const body = 'Grüße 👋 '.repeat(600_000)
    const received: Buffer[] = []
    let bytes = 0
    await using server = await rawServer((socket) =>
      socket.on('data', (chunk: Buffer) => {
        received.push(chunk)
        bytes += chunk.length
        if (bytes === Buffer.byteLength(request(body))) socket.write(OK)
      }),
    )
    expect((await ask(dial(server.port), request(body))).failure).toBeNull()
    expect(Buffer.concat(received).equals(Buffer.from(request(body)))).toBe(true)
  })

  test('that is answered before it is sent completely closes the connection', async () => {
    const kept: HttpConnection[] = []
    await using server = await rawServer((socket) => socket.once('data', () => (socket.pause(), socket.write(OK))))
    const endpoint = { hostname: '127.0.0.1', port: server.port, tls: null }
    const connection = new HttpConnection(endpoint, new HttpResponseReader(MAX_HEAD_BYTES), (idle) => kept.push(idle))
    expect((await ask(connection, request('x'.repeat(20_000_000)))).body).toBe('hello')
    expect(kept).toEqual([])
  })

  test('fails with neverLeft if no server listens', async () => {
    const { failure } = await ask(dial(await deadPort()))
    expect(failure).toEqual({ code: 'ECONNREFUSED', neverLeft: true, isStale: false })
  })

  test('reports nothing after its connection is destroyed', async () => {
    await using server = await rawServer(answers(OK))
    const connection = dial(server.port)
    let told = 0
    const count = (): number => told++
    connection.send(request(), { head: count, body: count, end: count, fail: count })
    connection.destroy()
    expect((await ask(dial(server.port))).body).toBe('hello')
    expect(told).toBe(0)
  })

  test('reports nothing after its listener destroys the connection at the head, and the server sees the end', async () => {
    const over = Promise.withResolvers<void>()
    await using server = await rawServer((socket) => (answers(OK)(socket), socket.on('close', () => over.resolve())))
    const connection = dial(server.port)
    let told = 0
    const count = (): number => told++
    connection.send(request(), { head: () => connection.destroy(), body: count, end: count, fail: count })
    await over.promise
    expect(told).toBe(0)
  })

  test('that fails closes the connection', async () => {
    const over = Promise.withResolvers<void>()
    await using server = await rawServer(
      (socket) => (answers('what?')(socket), socket.on('close', () => over.resolve())),
    )
    expect((await ask(dial(server.port))).failure?.code).toBe('HPE_INVALID_CONSTANT')
    await over.promise
  })

  test.skipIf(process.platform !== 'linux')(
    'whose connection is destroyed during dialling leaves no socket',
    async () => {
      await using silent = await unresponsiveServer()
      const before = dialling(silent.port)
      const connection = dial(silent.port)
      connection.send(request(), { head() {}, body() {}, end() {}, fail() {} })
      while (dialling(silent.port) === before) await Bun.sleep(1)
      connection.destroy()
      while (dialling(silent.port) > before) await Bun.sleep(1)
    },
  )
})

/** A stopped server whose queue is full, so that a connection to it is never established. */
async function unresponsiveServer(): Promise<AsyncDisposable & { port: number }> {
  const script = `require('net').createServer().listen(0, '127.0.0.1', function () { console.log(this.address().port) })`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
  const { value } = await child.stdout.getReader().read()
  const port = Number(new TextDecoder().decode(value))
  child.kill('SIGSTOP')
  const waiting: Socket[] = []
  for (; dialling(port) === 0; await Bun.sleep(1))
    for (let count = 0; count < 50; count++) waiting.push(net.connect(port, '127.0.0.1').on('error', () => {}))
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of waiting) socket.destroy()
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

const SYN_SENT = '02'

/** Returns the number of sockets of this machine that are dialling the port. */
function dialling(port: number): number {
  const remote = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} ${SYN_SENT}`
  return readFileSync('/proc/net/tcp', 'utf8').split(remote).length - 1
}

describe('TLS', () => {
  async function handshake(serverName: string, cert: string) {
    const names: (string | undefined)[] = []
    const SNICallback = (name: string, done: (error: null) => void): void => (names.push(name), done(null))
    await using server = await rawServer(answers(OK), tls.createServer({ key, cert, SNICallback }))
    const endpoint = { hostname: '127.0.0.1', port: server.port, tls: { serverName, ca: authority } }
    const { body, failure } = await ask(new HttpConnection(endpoint, new HttpResponseReader(MAX_HEAD_BYTES)))
    return { names, body, failure }
  }

  test('verifies the certificate for the server name, not for the dialled address, and sends the name', async () => {
    expect(await handshake('localhost', valid)).toEqual({ names: ['localhost'], body: 'hello', failure: null })
    expect((await handshake('localhost', otherName)).failure).toEqual({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      neverLeft: true,
      isStale: false,
    })
  })

  test('verifies the certificate for the address if there is no name, and sends no name', async () => {
    const { names, failure } = await handshake('127.0.0.1', otherName)
    expect(names).toEqual([])
    expect(failure).toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID', neverLeft: true })
  })
})
