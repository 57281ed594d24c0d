import { type Socket, connect } from 'node:net'

/** A raw WebSocket client. It answers no ping and can stop reading. It can send text frames of up to 125 bytes. */
export interface RawSocket extends Disposable {
  socket: Socket
  /** All received bytes after the handshake. */
  text(): string
  send(text: string): void
  isClosed(): boolean
}

export function openRawSocket(url: string): Promise<RawSocket> {
  const { hostname, port } = new URL(url)
  const { promise, resolve, reject } = Promise.withResolvers<RawSocket>()
  let text = ''
  let closed = false
  const socket = connect(Number(port), hostname, () => socket.write(HANDSHAKE))
  const raw: RawSocket = {
    socket,
    text: () => text,
    send: (message) => void socket.write(textFrame(message)),
    isClosed: () => closed,
    [Symbol.dispose]: () => void socket.destroy(),
  }
  socket.on('data', (bytes) => {
    const chunk = bytes.toString('latin1')
    if (text === '' && chunk.startsWith('HTTP/1.1 101')) resolve(raw)
    else text += chunk
  })
  socket.on('error', reject)
  socket.on('close', () => {
    closed = true
    reject(new Error('The WebSocket was refused'))
  })
  return promise
}

const HANDSHAKE = [
  'GET /ws HTTP/1.1',
  'Host: gateway',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '',
  '',
].join('\r\n')

/** A final text frame, masked with zeros (RFC 6455 5.2). */
function textFrame(text: string): Uint8Array {
  const payload = Buffer.from(text)
  return Buffer.concat([Uint8Array.of(0x81, 0x80 | payload.length, 0, 0, 0, 0), payload])
}
