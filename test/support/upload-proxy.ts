import net from 'node:net'
import type { AddressInfo } from 'node:net'

/** What happens to the next upload: only half of it is passed on, or all of it and no answer comes back. */
export type UploadFate = 'half' | 'unanswered'

export interface UploadProxy extends AsyncDisposable {
  url: string
  /** For the next connection that brings a multipart body. Null: it passes. */
  fate: UploadFate | null
  /** Resolves when that has happened to an upload. */
  happened: Promise<void>
}

/** Forwards connections to a server, and can stop an upload in the middle. */
export async function startUploadProxy(target: string): Promise<UploadProxy> {
  const { hostname, port } = new URL(target)
  const { promise, resolve } = Promise.withResolvers<void>()
  const open = new Set<net.Socket>()
  const proxy = { url: '', fate: null as UploadFate | null, happened: promise, [Symbol.asyncDispose]: close }
  const server = net.createServer((client) => {
    const upstream = net.connect(Number(port), hostname)
    let fate: UploadFate | null = null
    let read = 0
    let length = 0
    for (const socket of [client, upstream]) open.add(socket.on('error', () => undefined))
    client.on('data', (bytes: Buffer) => {
      const text = bytes.toString('latin1')
      if (fate === null && proxy.fate !== null && /^content-type: multipart/im.test(text)) {
        fate = proxy.fate
        length = Number(/^content-length: (\d+)/im.exec(text)?.[1])
        proxy.fate = null
      }
      read += bytes.length
      if (fate === 'half' && read > length / 2) return resolve()
      upstream.write(bytes)
      if (fate === 'unanswered' && read >= length) setTimeout(resolve, ARRIVED_AFTER_MS)
    })
    upstream.on('data', (bytes) => fate === null && client.write(bytes))
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy

  async function close(): Promise<void> {
    for (const socket of open) socket.destroy()
    await new Promise<void>((closed) => server.close(() => closed()))
  }
}

/** The server has read the last bytes by then, or the test would find that it has no message. */
const ARRIVED_AFTER_MS = 300
