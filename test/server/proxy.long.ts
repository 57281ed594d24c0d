import { expect, test } from 'bun:test'
import { rawServer } from '../provider/ringcentral/servers.ts'
import { sgw, startServer, temporaryFolder } from '../support/process.ts'

test('calls to the provider use the proxy of the environment', async () => {
  using folder = temporaryFolder()
  const asked: string[] = []
  await using proxy = await rawServer((socket) =>
    socket.once('data', (head) => {
      asked.push(head.toString().split('\r\n')[0] ?? '')
      socket.end('HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n')
    }),
  )
  const env = {
    DATABASE_URL: folder.database,
    RC_CLIENT_ID: 'client',
    RC_CLIENT_SECRET: 'client-key',
    RC_SERVER_URL: 'https://provider.test',
    HTTPS_PROXY: proxy.url,
    LOG_LEVEL: 'error',
  }
  await using server = await startServer(env)
  const { tenantId = '' } = await run('tenant', 'create', '--name', 'First')
  const { apiKey } = await run('app', 'create', '--tenant', tenantId, '--name', 'First app')
  const headers = { authorization: `Bearer ${apiKey}` }
  const link = await fetch(`${server.url}/v1/rc/connect-token`, { method: 'POST', headers, body: '{}' })
  const { connectUrl } = (await link.json()) as { connectUrl: string }
  const body = new URLSearchParams({ token: new URL(connectUrl, server.url).searchParams.get('token') ?? '' })
  const toLogin = await fetch(`${server.url}/v1/rc/connect`, { method: 'POST', body, redirect: 'manual' })
  const state = new URL(toLogin.headers.get('location') ?? '').searchParams.get('state')
  expect((await fetch(`${server.url}/v1/rc/callback?code=any&state=${state}`)).status).toBeGreaterThanOrEqual(400)
  // The gateway has shown its credentials at the start, too.
  expect([...new Set(asked)]).toEqual(['CONNECT provider.test:443 HTTP/1.1'])

  async function run(...words: string[]): Promise<Record<string, string>> {
    return JSON.parse((await sgw(['--json', ...words], env)).stdout) as Record<string, string>
  }
})
