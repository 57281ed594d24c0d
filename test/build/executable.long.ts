import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LoggedProgram, finished, freePort } from '../support/program.ts'
import { until } from '../support/world.ts'

const folder = mkdtempSync(join(tmpdir(), 'sgw-build-'))
const COMMIT = '0123456789abcdef0123456789abcdef01234567'

beforeAll(async () => {
  const words = ['--out', join(folder, 'dist'), '--commit', COMMIT]
  const built = await finished([process.execPath, 'scripts/build.ts', ...words], {})
  if (built.code !== 0) throw new Error(built.stderr)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** An empty working folder, an empty home, and a PATH without Bun. */
function emptyMachine(name: string) {
  const cwd = join(folder, name)
  const home = join(folder, `${name}-home`)
  for (const path of [cwd, home]) mkdirSync(path)
  const port = freePort()
  return { cwd, home, url: `http://127.0.0.1:${port}`, env: { PATH: '/usr/bin:/bin', HOME: home, PORT: String(port) } }
}

const DOCUMENTATION = [
  '/docs',
  '/docs/swagger-ui.css',
  '/docs/swagger-ui-bundle.js',
  '/docs/start.js',
  '/docs/docs.css',
  '/openapi.json',
]

async function expectDocumentation(url: string): Promise<void> {
  for (const path of DOCUMENTATION) {
    const response = await fetch(`${url}${path}`)
    expect(`${path} ${response.status}`).toBe(`${path} 200`)
    expect((await response.text()).length).toBeGreaterThan(200)
  }
}

const MANY = 2000

/** Gives the development tenant so many messages that the reader thread lists them. Returns the total of the list. */
async function totalOfMany(cwd: string, url: string): Promise<number> {
  const keyFile = join(cwd, 'data/development-api-key')
  await until(() => existsSync(keyFile), 10_000)
  const database = new Database(join(cwd, 'data/sgw.db'))
  database.run('PRAGMA busy_timeout = 5000')
  database.run(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MANY})
    INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, created_at, updated_at)
    SELECT 'many' || n, 'job', apps.tenant_id, apps.id, 'outbound', '+15555550100', '+15555550199', 'Hello', 'sent', n, n FROM numbers, apps`)
  database.close()
  const key = readFileSync(keyFile, 'utf8').trim()
  const response = await fetch(`${url}/v1/sms/messages?status=sent`, { headers: { authorization: `Bearer ${key}` } })
  return ((await response.json()) as { total: number }).total
}

describe('the executable', () => {
  test('in an empty folder it serves, sends, answers operator commands, and stops with 0', async () => {
    const { cwd, home, url, env } = emptyMachine('alone')
    const sgw = join(folder, 'sgw')
    cpSync(join(folder, 'dist/sgw'), sgw)
    await using server = new LoggedProgram({ command: [sgw, 'start'], env, cwd, log: join(folder, 'alone.log') })
    await server.serving(`${url}/health`)
    await expectDocumentation(url)
    const sent = await finished(
      [sgw, '--json', 'send', '--from', '+15555550100', '--to', '+15555550199', '--wait', 'Hello'],
      env,
      cwd,
    )
    expect(JSON.parse(sent.stdout)).toMatchObject({ status: 'sent', body: 'Hello' })
    const status = await finished([sgw, '--json', 'status'], env, cwd)
    expect(JSON.parse(status.stdout)).toMatchObject({ extensions: { active: 1 }, queue: { send: 0 } })
    server.signal('SIGTERM')
    expect(await server.ended()).toBe(0)
    expect(readdirSync(cwd)).toEqual(['data'])
    expect(readdirSync(home)).toEqual([])
  })

  test('its reader thread lists the messages of a tenant with many messages', async () => {
    const { cwd, url, env } = emptyMachine('many')
    await using server = new LoggedProgram({
      command: [join(folder, 'dist/sgw'), 'start'],
      env,
      cwd,
      log: join(folder, 'many.log'),
    })
    await server.serving(`${url}/health`)
    expect(await totalOfMany(cwd, url)).toBe(MANY)
  })

  test('between releases it names the commit that it was built from', async () => {
    const { cwd, env } = emptyMachine('version')
    const { stdout } = await finished([join(folder, 'dist/sgw'), '--version'], env, cwd)
    expect(stdout).toMatch(/^\d+\.\d+\.\d+(-dev\+0123456)?\n$/)
  })

  test('without a command it prints its help', async () => {
    const { cwd, env } = emptyMachine('help')
    const { code, stderr } = await finished([join(folder, 'dist/sgw')], env, cwd)
    expect(stderr).toContain('Run the server until SIGTERM')
    expect(code).toBe(2)
  })

  test('a bad configuration ends it with 78 and one line for each problem', async () => {
    const { cwd, env } = emptyMachine('bad')
    const { code, stderr } = await finished(
      [join(folder, 'dist/sgw'), 'start'],
      { ...env, PORT: 'x', LOG_LEVEL: 'loud' },
      cwd,
    )
    expect(code).toBe(78)
    expect(stderr.trim().split('\n')).toHaveLength(2)
  })
})

describe('the bundle for the image', () => {
  test('serves without node_modules', async () => {
    const { cwd, url, env } = emptyMachine('bundle')
    cpSync(join(folder, 'dist/bundle'), join(cwd, 'app'), { recursive: true })
    const command = [process.execPath, join(cwd, 'app/cli.js'), 'start']
    await using server = new LoggedProgram({ command, env, cwd, log: join(folder, 'bundle.log') })
    await server.serving(`${url}/health`)
    await expectDocumentation(url)
    expect(await totalOfMany(cwd, url)).toBe(MANY)
    server.signal('SIGTERM')
    expect(await server.ended()).toBe(0)
  })
})
