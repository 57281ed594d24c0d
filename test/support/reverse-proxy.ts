import { once } from 'node:events'
import { type IncomingHttpHeaders, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReverseProxy extends AsyncDisposable {
  url: string
  /** The headers that the next requests get. */
  added: Record<string, string>
}

/**
 * Starts a reverse proxy on this machine in front of `target`, such as a tunnel's. Like many, it rewrites `Host` and `Origin` to
 * those of the target.
 */
export async function startReverseProxy(target: string): Promise<ReverseProxy> {
  const { host, port, hostname } = new URL(target)
  const proxy = { added: {} as Record<string, string> }
  const headersOf = ({ origin, ...headers }: IncomingHttpHeaders): IncomingHttpHeaders => ({
    ...headers,
    host,
    ...(origin === undefined ? {} : { origin: `http://${host}` }),
    ...proxy.added,
  })
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming
    const upstream = request({ hostname, port, method, path, headers: headersOf(headers) }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    upstream.on('error', () => outgoing.writeHead(502).end())
    incoming.pipe(upstream)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return Object.assign(proxy, { url, [Symbol.asyncDispose]: stop })
}
