import { expect, test } from 'bun:test'
import net from 'node:net'
import { proxyFor } from '../../../src/core/proxy.ts'
import { authority, key, otherName, valid } from './certificates.ts'
import { type RawServer, failureOf, rawServer, valueOf } from './servers.ts'
import { FakeGateway, TICKET, ticketOf } from './socket-gateway.ts'

/** A proxy that opens tunnels, all of them to one port of this machine. */
async function tunnels(port: () => number): Promise<RawServer & { asked: string[] }> {
  const asked: string[] = []
  const server = await rawServer((near) =>
    near.once('data', (head) => {
      asked.push(head.toString().split('\r\n')[0] ?? '')
      const far = net.connect(port(), '127.0.0.1', () => near.write('HTTP/1.1 200 OK\r\n\r\n')).on('error', () => {})
      near.pipe(far).pipe(near)
    }),
  )
  return Object.assign(server, { asked })
}

test('a socket of an https provider is encrypted, and the certificate is verified', async () => {
  using gateway = new FakeGateway({ tls: { key, cert: valid } })
  expect(gateway.url).toStartWith('https:')
  valueOf(await gateway.open({}, { ca: authority })).close()
  using stranger = new FakeGateway({ tls: { key, cert: otherName } })
  using office = new FakeGateway({
    tls: { key, cert: valid },
    ticket: () => ticketOf(`wss://localhost:${stranger.port}/ws`),
  })
  expect(failureOf(await office.open({}, { ca: authority })).reason).toBe('ambiguous')
  expect(stranger.opened).toEqual([])
})

test('a socket of an https provider is never opened unencrypted', async () => {
  using open = new FakeGateway()
  using gateway = new FakeGateway({
    tls: { key, cert: valid },
    ticket: () => ticketOf(`ws://127.0.0.1:${open.port}/ws`),
  })
  expect(failureOf(await gateway.open({}, { ca: authority })).status).toBeNull()
  expect(open.headers).toEqual([])
})

test('a socket goes through the proxy that calls go through, by a tunnel that sees no ticket', async () => {
  using gateway = new FakeGateway({ tls: { key, cert: otherName } })
  await using proxy = await tunnels(() => gateway.port)
  using office = new FakeGateway({ tls: { key, cert: valid }, ticket: () => ticketOf('wss://other.example/ws') })
  const settings = { url: `http://127.0.0.1:${proxy.port}`, exempt: [] }
  valueOf(await office.open({}, { ca: authority, proxy: settings })).close()
  expect(proxy.asked).toEqual(['CONNECT other.example:443 HTTP/1.1'])
  expect(gateway.opened[0]?.searchParams.get('access_token')).toBe(TICKET)
})

test('a proxy that refuses the tunnel fails the socket, not the process', async () => {
  await using proxy = await rawServer((socket) =>
    socket.once('data', () => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')),
  )
  using office = new FakeGateway({ tls: { key, cert: valid }, ticket: () => ticketOf('wss://other.example/ws') })
  const settings = { url: `http://127.0.0.1:${proxy.port}`, exempt: [] }
  expect(failureOf(await office.open({}, { ca: authority, proxy: settings })).reason).toBe('ambiguous')
})

const URL_OF_PROXY = 'http://proxy.example:3128'
const EXEMPT: [exempt: string[], address: string, goes: string | null][] = [
  [[], 'wss://ws.ringcentral.com/ws', URL_OF_PROXY],
  [['ringcentral.com'], 'wss://ws.ringcentral.com/ws', null],
  [['.ringcentral.com'], 'wss://ws.ringcentral.com/ws', null],
  [['*.RingCentral.com'], 'wss://ws.ringcentral.com/ws', null],
  [['central.com'], 'wss://ws.ringcentral.com/ws', URL_OF_PROXY],
  [['ws.ringcentral.com:8443'], 'wss://ws.ringcentral.com/ws', URL_OF_PROXY],
  [['ws.ringcentral.com:8443'], 'wss://ws.ringcentral.com:8443/ws', null],
  [['*'], 'wss://ws.ringcentral.com/ws', null],
  [[], 'wss://127.0.0.1:8443/ws', null],
  [[], 'wss://localhost/ws', null],
]
test.each(EXEMPT)('with NO_PROXY %j a socket to %s goes through %p', (exempt, address, goes) => {
  expect(proxyFor({ url: URL_OF_PROXY, exempt }, new URL(address))).toBe(goes)
})
