import { expect, test } from 'bun:test'
import { rawServer } from '../provider/ringcentral/servers.ts'
import { runSgw } from '../support/cli.ts'
import { startServer, temporaryFolder } from '../support/process.ts'

interface Finding {
  check: string
  level: string
  detail: string
}

const REFUSES = 'the proxy that HTTPS_PROXY names refuses the connection: allow RC_SERVER_URL in its settings'

test.each([
  ['refuses CONNECT', 'HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n', REFUSES],
  ['wants a password', 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n', REFUSES],
  ['reaches nobody', 'HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n', REFUSES],
  ['closes the connection', '', 'check the proxy that HTTPS_PROXY names, RC_SERVER_URL, DNS and the firewall'],
])('the doctor names a proxy that %s, and what it cannot know is no ✓', async (_, answer, fix) => {
  await using proxy = await rawServer((socket) => socket.once('data', () => socket.end(answer)))
  using folder = temporaryFolder()
  const env = {
    DATABASE_URL: folder.database,
    RC_CLIENT_ID: 'client',
    RC_CLIENT_SECRET: 'client-key',
    RC_SERVER_URL: 'https://provider.test',
    HTTPS_PROXY: proxy.url,
  }
  await using server = await startServer(env)
  Object.assign(env, { PORT: String(server.port) })
  const { code, stdout } = await runSgw(['doctor', '--json'], env)
  expect(code).toBe(1)
  const findings = JSON.parse(stdout) as Finding[]
  const of = (check: string): Finding | undefined => findings.find((finding) => finding.check === check)
  expect(of('provider')).toMatchObject({ level: 'fail', detail: expect.stringContaining(fix) })
  expect(of('redirect address')).toMatchObject({ level: 'warn', detail: expect.stringContaining('unknown') })
  const unknown = findings.filter(({ detail }) => /\bunknown\b/.test(detail))
  expect(unknown.length).toBeGreaterThanOrEqual(2)
  expect(unknown.filter(({ level }) => level === 'ok')).toEqual([])
})
