import { expect, test } from 'bun:test'
import net from 'node:net'
import tls from 'node:tls'
import { authority, key, valid } from './certificates.ts'
import { deadPort, httpServer, rawServer } from './servers.ts'

/** Sends from a separate process, because Bun reads the proxy from the environment. */
async function sendInChild(serverUrl: string, proxies: Record<string, string>, ca = ''): Promise<unknown> {
  const script = new URL('fixtures/call-in-child.ts', import.meta.url).pathname
  const child = Bun.spawn([process.execPath, script, serverUrl, ca], {
    env: { ...process.env, NO_PROXY: '', no_proxy: '', ...proxies },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return JSON.parse(await new Response(child.stdout).text())
}

test('a proxy gets the requests for a plain address', async () => {
  using proxy = httpServer(() => Response.json({ id: 7 }))
  const result = await sendInChild('http://provider.test', { HTTP_PROXY: proxy.url })
  expect(result).toMatchObject({ ok: true, value: { providerMessageId: '7' } })
  expect(proxy.requests).toHaveLength(1)
  expect(proxy.requests[0]?.headers.get('host')).toBe('provider.test')
})

test('a proxy opens a tunnel for an https address, and the certificate is verified for the provider’s name', async () => {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{"id":7}'
  await using server = await rawServer(
    (socket) => socket.on('data', () => socket.write(answer)),
    tls.createServer({ key, cert: valid }),
  )
  const asked: string[] = []
  await using proxy = await rawServer((near) =>
    near.once('data', (head) => {
      asked.push(head.toString().split('\r\n')[0] ?? '')
      const far = net
        .connect(server.port, '127.0.0.1', () => near.write('HTTP/1.1 200 OK\r\n\r\n'))
        .on('error', () => {})
      near.pipe(far).pipe(near)
    }),
  )
  const result = await sendInChild(`https://localhost:${server.port}`, { HTTPS_PROXY: proxy.url }, authority)
  expect(result).toMatchObject({ ok: true, value: { providerMessageId: '7' } })
  expect(asked).toEqual([`CONNECT localhost:${server.port} HTTP/1.1`])
})

const endings: [name: string, answer: string, reason: string][] = [
  ['refuses the tunnel', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n', 'unreachable'],
  ['closes the connection after the request', '', 'ambiguous'],
]
test.each(endings)('a proxy that %s', async (_name, answer, reason) => {
  await using proxy = await rawServer((socket) => socket.once('data', () => socket.end(answer)))
  const [scheme, name] = answer === '' ? ['http', 'HTTP_PROXY'] : ['https', 'HTTPS_PROXY']
  expect(await sendInChild(`${scheme}://provider.test`, { [name]: proxy.url })).toMatchObject({
    ok: false,
    failure: { reason, status: null },
  })
})

test('a redirect through a proxy is not followed', async () => {
  using proxy = httpServer(() => new Response(null, { status: 302, headers: { location: 'http://elsewhere.test/' } }))
  const result = await sendInChild('http://provider.test', { HTTP_PROXY: proxy.url })
  expect(result).toMatchObject({ ok: false, failure: { reason: 'intercepted', status: 302 } })
  expect(proxy.requests).toHaveLength(1)
})

test('an unreachable proxy fails the call before it is sent', async () => {
  const result = await sendInChild('http://provider.test', { HTTP_PROXY: `http://127.0.0.1:${await deadPort()}` })
  expect(result).toMatchObject({ ok: false, failure: { reason: 'unreachable', code: 'ECONNREFUSED' } })
})

test('an incomplete answer and a too long answer are ambiguous', async () => {
  await using broken = await rawServer((socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"id":7}')),
  )
  const cut = await sendInChild('http://provider.test', { HTTP_PROXY: broken.url })
  expect(cut).toMatchObject({ ok: false, failure: { reason: 'ambiguous', status: 200, code: 'ECONNRESET' } })
  using endless = httpServer(() => new Response('x'.repeat(300 * 1024)))
  const long = await sendInChild('http://provider.test', { HTTP_PROXY: endless.url })
  expect(long).toMatchObject({ ok: false, failure: { reason: 'ambiguous', status: 200, code: 'ERR_ANSWER_TOO_LARGE' } })
})
