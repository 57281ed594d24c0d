import { expect, test } from 'bun:test'
import { readFileSync, statSync } from 'node:fs'
import { startProgram, startServer, temporaryFolder } from '../support/process.ts'
import { freePort } from '../support/program.ts'
import { until } from '../support/world.ts'

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

interface Shown {
  key: string
  curl: string
}

/** Reads the text that a start in development prints. */
function shown(stdout: string, url: string): Shown {
  expect(stdout).toContain(`sgw listens on    ${url}`)
  expect(stdout).toContain(`${url}/docs`)
  return {
    key: /API key +(sgw_[A-Za-z0-9_-]{43})\n/.exec(stdout)?.[1] ?? '',
    curl: /^curl .*\/v1\/sms\/send .*$/m.exec(stdout)?.[0] ?? '',
  }
}

/** Runs a line as a shell does. Returns the printed body and the status code after it. */
function paste(line: string): { body: Record<string, unknown>; status: number } {
  const { stdout } = Bun.spawnSync(['sh', '-c', `${line} -w '\\n%{http_code}'`])
  const [body = '', status] = stdout.toString().split('\n')
  return { body: JSON.parse(body) as Record<string, unknown>, status: Number(status) }
}

test('the first start prints a line that sends an SMS within a second', async () => {
  using folder = temporaryFolder()
  await using server = await startServer({ DATABASE_URL: folder.database })
  await server.printed(/limit=1/)
  const { key, curl } = shown(server.stdout, server.url)
  const { body, status } = paste(curl)
  expect(status).toBe(202)
  expect(body['status']).toBe('queued')
  const state = await until(async () => {
    const response = await fetch(`${server.url}/v1/sms/status/${String(body['messageId'])}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    const answer = (await response.json()) as Record<string, unknown>
    return answer['status'] === 'sent' ? answer : null
  }, 1000)
  expect(String(state['rcMessageId'])).toMatch(/^\d+$/)
  expect(server.stderr).toBe('')
}, 30_000)

test('a public address with a path, as behind a proxy, changes nothing for the first SMS', async () => {
  using folder = temporaryFolder()
  await using server = await startServer({ DATABASE_URL: folder.database, PUBLIC_URL: 'https://example.com/sms/' })
  await server.printed(/limit=1/)
  expect(paste(shown(server.stdout, server.url).curl)).toMatchObject({ status: 202, body: { status: 'queued' } })
}, 30_000)

test('the key is stored with mode 600 beside the database, and stays the same after a restart', async () => {
  using folder = temporaryFolder()
  const keys: string[] = []
  for (let start = 0; start < 2; start++) {
    await using server = await startServer({ DATABASE_URL: folder.database })
    await server.printed(/limit=1/)
    keys.push(shown(server.stdout, server.url).key)
    server.kill('SIGTERM')
    expect((await server.ended()).code).toBe(0)
  }
  expect(keys[0]).toBe(keys[1] ?? '')
  for (const name of ['development-api-key', 'encryption.key']) expect(modeOf(folder.file(name))).toBe('600')
  expect(readFileSync(folder.file('development-api-key'), 'utf8')).toBe(`${keys[0]}\n`)
}, 30_000)

test('a new data folder can be read by its owner only', async () => {
  using folder = temporaryFolder()
  await using server = await startServer({ DATABASE_URL: `file:${folder.file('made/here/sgw.db')}` })
  expect(modeOf(folder.file('made/here'))).toBe('700')
  expect(modeOf(folder.file('made/here/sgw.db.sock'))).toBe('600')
  server.kill('SIGINT')
  expect((await server.ended()).code).toBe(0)
}, 30_000)

test('a command during the start waits until the server works', async () => {
  using folder = temporaryFolder()
  await using server = await startServer({ DATABASE_URL: folder.database })
  const operate = (method: string, path: string): Promise<Response> =>
    fetch(`http://localhost/v1/operator/${path}`, { method, unix: folder.file('sgw.db.sock') })
  const [compact, doctor] = await Promise.all([operate('POST', 'compact'), operate('GET', 'doctor')])
  expect(await compact.json()).toEqual({ error: expect.stringContaining('A server is using the database') })
  expect(JSON.stringify(await doctor.json())).not.toContain('not running')
  server.kill('SIGTERM')
  await server.ended()
}, 30_000)

test('if the stored key was revoked, the next start creates a new one, and the old one stays revoked', async () => {
  using folder = temporaryFolder()
  const keys: string[] = []
  for (let start = 0; start < 2; start++) {
    await using server = await startServer({ DATABASE_URL: folder.database })
    await server.printed(/limit=1/)
    const { key } = shown(server.stdout, server.url)
    keys.push(key)
    const call = (path: string, init: RequestInit = {}, as = key): Promise<Response> =>
      fetch(`${server.url}${path}`, { ...init, headers: { authorization: `Bearer ${as}` } })
    const [app] = ((await (await call('/v1/apps')).json()) as { apps: { appId: string }[] }).apps.slice(-1)
    if (start === 0) expect((await call(`/v1/apps/${app?.appId}`, { method: 'DELETE' })).status).toBeLessThan(500)
    if (start === 0) await call(`/v1/apps/${app?.appId}`, { method: 'PUT', body: JSON.stringify({ isActive: false }) })
    else expect((await call('/v1/apps', {}, keys[0])).status).toBe(401)
    server.kill('SIGTERM')
    await server.ended()
  }
  expect(keys[1]).not.toBe(keys[0] ?? '')
}, 30_000)

test('a command waits until the first start has created its app', async () => {
  using folder = temporaryFolder()
  await using _server = startProgram('src/main.ts', [], {
    DATABASE_URL: folder.database,
    PORT: String(freePort()),
  })
  const send = (): Promise<Response | null> =>
    fetch('http://localhost/v1/operator/send', {
      unix: folder.file('sgw.db.sock'),
      method: 'POST',
      body: JSON.stringify({ message: { from: '+15555550100', to: '+15555550199', body: 'Hello' } }),
    }).catch(() => null)
  const answer = await until(send, 20_000)
  expect(await answer?.json()).toMatchObject({ body: 'Hello' })
}, 30_000)
