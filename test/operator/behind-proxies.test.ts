import { expect, test } from 'bun:test'
import { expectError } from '../support/expect-error.ts'
import { type ReverseProxy, startReverseProxy } from '../support/reverse-proxy.ts'
import { type World, createWorld } from '../support/world.ts'

const quiet = { connect: false, work: false }

/** A header of each kind of proxy, tunnel and content network that reaches a program on the machine of a developer. */
const HEADERS = [
  'Forwarded',
  'Via',
  'X-Forwarded',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Forwarded-Proto',
  'X-Forwarded-Port',
  'X-Forwarded-Server',
  'X-Forwarded-Prefix',
  'X-Forwarded-Ssl',
  'X-Forwarded-Scheme',
  'X-Forwarded-Client-Cert',
  'X-Original-Forwarded-For',
  'X-Original-Host',
  'X-Original-URL',
  'X-Real-IP',
  'X-Client-IP',
  'True-Client-IP',
  'X-Cluster-Client-IP',
  'X-Remote-Addr',
  'X-Remote-IP',
  'Proxy-Connection',
  'X-ProxyUser-Ip',
  'CF-Connecting-IP',
  'CF-Ray',
  'CF-Visitor',
  'CDN-Loop',
  'Fly-Client-IP',
  'Fly-Region',
  'Fastly-Client-IP',
  'Fastly-FF',
  'X-Envoy-External-Address',
  'X-Envoy-Expected-Rq-Timeout-Ms',
  'X-Amzn-Trace-Id',
  'X-Amz-Cf-Id',
  'X-Azure-ClientIP',
  'X-Azure-FDID',
  'X-AppEngine-User-IP',
  'X-Cloud-Trace-Context',
  'X-Vercel-Id',
  'X-Nf-Client-Connection-Ip',
  'Akamai-Origin-Hop',
  'X-Akamai-Edgescape',
  'X-Varnish',
  'X-ARR-LOG-ID',
  'X-Tunnel-Id',
  'Tailscale-User-Login',
  'Ngrok-Trace-Id',
]

/** Asks for a session as a page of the gateway does, through the proxy. */
const signInThrough = (proxy: ReverseProxy, body: object): Promise<Response> =>
  fetch(`${proxy.url}/v1/operator/session`, {
    method: 'POST',
    headers: { origin: proxy.url, 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify(body),
  })

const sessionsOf = async ({ gateway }: World): Promise<number> =>
  (await gateway.database.gate.execute('SELECT id FROM operator_sessions')).rows.length

test('who comes through a proxy that shows itself by any header is not on this machine', async () => {
  await using world = await createWorld(quiet)
  await using proxy = await startReverseProxy(world.url)
  const development = { login: world.gateway.operatorSessions.createDevelopmentLogin() }
  const open: string[] = []
  for (const name of HEADERS) {
    // What the header says does not matter: a client can make a proxy say that it is this machine.
    for (const value of ['203.0.113.9', '127.0.0.1']) {
      proxy.added = { [name]: value }
      if ((await signInThrough(proxy, {})).status !== 401) open.push(`${name}: ${value}`)
    }
  }
  expect(open).toEqual([])
  for (const name of ['CF-Connecting-IP', 'True-Client-IP', 'X-Forwarded-Port']) {
    proxy.added = { [name]: '127.0.0.1' }
    await expectError(await signInThrough(proxy, development), 401, 'Invalid or expired login')
    await expectError(
      await world.call('POST', '/v1/operator/session', { key: null, body: development, headers: proxy.added }),
      401,
      'Invalid or expired login',
    )
  }
  expect(await sessionsOf(world)).toBe(0)
})

test('the headers of browsers and programs are none of a proxy', async () => {
  await using world = await createWorld(quiet)
  const { host } = new URL(world.url)
  const headers = {
    origin: `http://${host}`,
    referer: `http://${host}/console/`,
    'sec-fetch-site': 'same-origin',
    'sec-fetch-mode': 'cors',
    'sec-ch-ua-platform': '"Linux"',
    'upgrade-insecure-requests': '1',
    'x-request-id': 'req_of_a_page',
    'x-requested-with': 'XMLHttpRequest',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    cookie: 'via=1; x-forwarded-for=1',
    'accept-language': 'fa-IR',
    priority: 'u=1, i',
    dnt: '1',
    'save-data': 'on',
  }
  const answer = await world.call('POST', '/v1/operator/session', { key: null, body: {}, headers })
  expect(answer.status).toBe(200)
})
