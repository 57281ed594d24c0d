import { once } from 'node:events'
import { type IncomingHttpHeaders, createServer, request } from 'node:http'
import { type AddressInfo, type Socket, connect } from 'node:net'

export interface ReverseProxy extends AsyncDisposable {
  /** With the prefix. */
  url: string
  /** The headers that the next requests get. */
  added: Record<string, string>
}

/**
 * Starts a reverse proxy on this machine in front of `target`, such as a tunnel's, for HTTP and WebSockets. Like many, it rewrites `Host` and
 * `Origin` to those of the target. It removes `prefix`, such as `/sms`, from the paths, and knows no others.
 */
export async function startReverseProxy(target: string, prefix = ''): Promise<ReverseProxy> {
  const { host, port, hostname } = new URL(target)
  const proxy = { added: {} as Record<string, string> }
  const headersOf = ({ origin, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders => ({
    ...headers,
    host,
    ...(origin === undefined ? {} : { origin: `http://${host}` }),
    ...proxy.added,
  })
  const server = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming
    const path = url.slice(prefix.length)
    if (!url.startsWith(`${prefix}/`)) return void outgoing.writeHead(404).end()
    const upstream = request({ hostname, port, method, path, headers: headersOf(headers) }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    upstream.on('error', () => outgoing.writeHead(502).end())
    incoming.pipe(upstream)
  })
  const sockets = new Set<Socket>()
  server.on('upgrade', ({ url = '', headers }, client: Socket, first: Buffer) => {
    const upstream = connect(Number(port), hostname)
    const lines = Object.entries(headersOf(headers)).map(([name, value]) => `${name}: ${String(value)}`)
    upstream.write(`GET ${url.slice(prefix.length)} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
    upstream.write(first)
    for (const [from, to] of [[client, upstream] as const, [upstream, client] as const]) {
      sockets.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy()).on('close', () => to.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  }
  return Object.assign(proxy, { url, [Symbol.asyncDispose]: stop })
}
