import { expect, test } from 'bun:test'
import { type Socket, connect } from 'node:net'
import { openRawSocket } from '../support/raw-socket.ts'
import { type World, createWorld, recordedLog } from '../support/world.ts'
import { type Malformed, Random, malformedRequest } from './malformed-requests.ts'

const SEED = Number(Bun.env['FUZZ_SEED'] ?? 20_261_121)
const REQUESTS = 3000
const CONNECTIONS = 24
const HANG_MS = 10_000

interface Answer {
  status: number
  head: string
  body: string
  /** The server accepts no further request on this connection. */
  last: boolean
}

test(`${REQUESTS} malformed requests: no 5xx, no hang, always {error} (FUZZ_SEED=${SEED})`, async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ connect: false, work: false, log, env: { KEY_LIMIT_PER_MINUTE: '1000000' } })
  world.gateway.failedAttempts.note = () => undefined
  // Otherwise /ready is 503, as it should be.
  world.gateway.lifecycle.working = true
  const random = new Random(SEED)
  const own = { key: world.key, tenantId: world.tenantId, appId: world.app.appId }
  const faults: string[] = []
  const statuses: Record<string, number> = {}
  let left = REQUESTS
  const work = async (): Promise<void> => {
    const line = new RawConnection(world.url)
    while (left-- > 0) {
      const request = malformedRequest(random, own)
      const answer = await line.ask(request)
      statuses[typeof answer === 'string' ? answer : answer.status] =
        (statuses[typeof answer === 'string' ? answer : answer.status] ?? 0) + 1
      const fault = faultOf(request, answer)
      if (fault !== null) faults.push(`${fault}: ${JSON.stringify(request.bytes.toString('latin1').slice(0, 400))}`)
    }
    line.close()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  console.log(`FUZZ_SEED=${SEED}`, statuses)
  expect(faults.slice(0, 5)).toEqual([])
  expect(lines.filter((line) => line.includes('request failed'))).toEqual([])
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
}, 60_000)

/**
 * Returns the fault of an answer, or null. Bun answers bad framing without a body. An answer with a request id is the
 * gateway's.
 */
function faultOf(request: Malformed, answer: Answer | 'closed' | 'hang'): string | null {
  if (answer === 'hang') return 'no answer and no end within 10 s'
  if (answer === 'closed') return request.broken ? null : 'closed without an answer'
  // Bun's HTTP parser answers 505 to a request line with an unknown version (RFC 9110 15.6.6).
  if (answer.status === 505 && request.broken && !isOurs(answer)) return null
  if (answer.status >= 500) return `status ${answer.status}`
  if (answer.status < 400 || request.method === 'HEAD' || !isOurs(answer)) return null
  if (/\r\ncontent-type: text\/html/i.test(answer.head))
    return answer.body.startsWith('<!doctype html>') ? null : 'a page that is none'
  return isError(answer.body) ? null : `${answer.status} without {error}: ${answer.body.slice(0, 100)}`
}

const isOurs = (answer: Answer): boolean => /\r\nx-request-id: /i.test(answer.head)

function isError(body: string): boolean {
  try {
    const value = JSON.parse(body)
    return Object.keys(value).join() === 'error' && typeof value.error === 'string' && value.error !== ''
  } catch {
    return false
  }
}

/** A connection that is reused until the server closes it. */
class RawConnection {
  #socket: Socket | null = null
  #text = ''
  #wake: () => void = () => undefined
  #closed = false

  constructor(readonly url: string) {}

  async ask(request: Malformed): Promise<Answer | 'closed' | 'hang'> {
    if (request.broken) this.close()
    const socket = this.#open()
    this.#text = ''
    socket.write(request.bytes)
    if (request.broken) socket.end()
    const answer = await this.#answer(request)
    if (typeof answer === 'string' || answer.last || request.broken) this.close()
    return answer
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = null
  }

  #open(): Socket {
    if (this.#socket !== null && !this.#closed) return this.#socket
    const { hostname, port } = new URL(this.url)
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true })
    this.#closed = false
    const over = (): void => {
      if (socket !== this.#socket) return
      this.#closed = true
      this.#wake()
    }
    socket.on('data', (bytes) => {
      if (socket !== this.#socket) return
      this.#text += bytes.toString('latin1')
      this.#wake()
    })
    socket.on('error', over).on('end', over).on('close', over)
    this.#socket = socket
    return socket
  }

  async #answer(request: Malformed): Promise<Answer | 'closed' | 'hang'> {
    const deadline = performance.now() + HANG_MS
    for (;;) {
      const answer = firstAnswer(this.#text, request.method === 'HEAD')
      if (answer !== null) return answer
      if (this.#closed) return 'closed'
      const leftMs = deadline - performance.now()
      if (leftMs <= 0) return 'hang'
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }
}

/** Returns the first complete final answer, or null. */
function firstAnswer(text: string, isHead: boolean): Answer | null {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return null
  const head = text.slice(0, end)
  const status = Number(head.split(' ')[1])
  if (status === 100) return firstAnswer(text.slice(end + 4), isHead)
  const last = /\r\nconnection: close/i.test(head) || status === 101
  if (isHead || status === 204 || status === 304 || status === 101) return { status, head, body: '', last }
  if (/\r\ntransfer-encoding: chunked/i.test(head))
    return text.endsWith('0\r\n\r\n') ? { status, head, body: text.slice(end + 4), last } : null
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  return text.length >= end + 4 + length ? { status, head, body: text.slice(end + 4, end + 4 + length), last } : null
}

test('1,000 WebSockets with random input do not affect the server', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ connect: false, work: false, log })
  world.gateway.failedAttempts.note = () => undefined
  const random = new Random(SEED + 1)
  for (let round = 0; round < 50; round++)
    await Promise.all(Array.from({ length: 20 }, () => sendGarbage(world, random)))
  expect(lines.filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([])
  expect((await world.call('GET', '/v1/apps')).status).toBe(200)
  expect(world.gateway.sockets.count).toBe(0)
}, 60_000)

/** Sends garbage frames or invalid first messages and closes the connection. */
async function sendGarbage(world: World, random: Random): Promise<void> {
  const raw = await openRawSocket(world.url)
  const messages = [
    '',
    '{',
    'null',
    '[]',
    '"auth"',
    '{"type":"auth"}',
    '{"type":"auth","apiKey":{}}',
    '{"type":"auth","token":[1]}',
    '{"type":"auth","apiKey":"sgw_\u0000"}',
    '{"type":"auth","token":"wst_"}',
    '{"__proto__":{"type":"auth"}}',
    '1e999',
    '\ud800',
  ]
  if (random.chance(0.5)) raw.socket.write(random.bytes(1 + random.below(200)))
  for (let n = random.below(4); n > 0; n--) raw.send(random.pick(messages))
  const { promise, resolve } = Promise.withResolvers<void>()
  raw.socket.on('close', () => resolve()).end()
  await promise
}
