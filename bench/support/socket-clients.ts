import { FrameCounter } from './frame-counter.ts'

// A process of authenticated WebSockets over raw TCP, which count events with little CPU time. `{ open: { port, count,
// keys } }` opens them. `{ expect }` is answered when that many more events have arrived in all, with the times of the
// first and the last one.

/** The gateway allows an address 20 unauthenticated sockets. */
const AT_ONCE = 16

interface Open {
  port: number
  count: number
  keys: string[]
}
interface Client {
  counter: FrameCounter
  key: string
  /** Called when the socket is authenticated, then null. */
  ready: (() => void) | null
}

let counted = 0
let firstAt = 0
let expected = Infinity

const now = (): number => performance.timeOrigin + performance.now()

async function openAll({ port, count, keys }: Open): Promise<void> {
  let opened = 0
  const work = async (): Promise<void> => {
    while (opened < count) await openOne(port, keys[opened++ % keys.length] ?? '')
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

async function openOne(port: number, key: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  await Bun.connect<Client>({
    hostname: '127.0.0.1',
    port,
    data: { counter: new FrameCounter(), key, ready: resolve },
    socket: {
      open: (socket) => void socket.write(HANDSHAKE),
      data: (socket, chunk) => received(socket, chunk),
      close: () => {
        reject(new Error('A socket was closed'))
        if (expected !== Infinity) process.send?.({ error: 'A socket was closed while events were expected' })
      },
    },
  })
  await promise
}

const HANDSHAKE = [
  'GET /ws HTTP/1.1',
  'Host: gateway',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '\r\n',
].join('\r\n')

function received(socket: Bun.Socket<Client>, chunk: Buffer): void {
  const { data } = socket
  if (data.ready === null) return countFrames(socket, chunk)
  const text = chunk.toString('latin1')
  if (text.startsWith('HTTP/1.1 101'))
    socket.write(clientFrame(0x1, JSON.stringify({ type: 'auth', apiKey: data.key })))
  else if (text.includes('auth_ok')) {
    data.ready()
    data.ready = null
  } else socket.end()
}

function countFrames(socket: Bun.Socket<Client>, chunk: Buffer): void {
  const { events, pings } = socket.data.counter.feed(chunk)
  if (pings > 0) socket.write(clientFrame(0xa, ''))
  if (events === 0) return
  if (counted === 0) firstAt = now()
  counted += events
  reportIfComplete()
}

/** The mask is zero, so the text needs no masking (RFC 6455 5.3). */
function clientFrame(opcode: number, text: string): Buffer {
  const head = text.length < 126 ? [0x80 | text.length] : [0x80 | 126, text.length >> 8, text.length & 255]
  return Buffer.concat([Buffer.from([0x80 | opcode, ...head, 0, 0, 0, 0]), Buffer.from(text)])
}

function reportIfComplete(): void {
  if (counted < expected) return
  process.send?.({ count: counted, firstAt, at: now() })
  counted = 0
  expected = Infinity
}

process.on('message', (message: { open: Open } | { expect: number }) => {
  if ('expect' in message) {
    expected = message.expect
    return reportIfComplete()
  }
  openAll(message.open).then(
    () => process.send?.('open'),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})

process.send?.('ready')

// Ends this process if the bench exits early.
process.on('disconnect', () => process.exit())
