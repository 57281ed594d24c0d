import { expect, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { freePort } from '../support/program.ts'
import { sgw, startProgram, temporaryFolder } from '../support/process.ts'
import { VERSION } from '../../src/core/version.ts'

const BROKEN = { PORT: 'eighty', MAX_QUEUE_AGE: 'soon' }

interface Finding {
  check: string
  ok: boolean
  level: string
  detail: string
}

test.concurrent('the doctor lists the problems of the configuration, exits with 1, and creates nothing', async () => {
  using folder = temporaryFolder()
  const { code, stdout, stderr } = await sgw(['doctor', '--json'], { ...BROKEN, DATABASE_URL: folder.database })
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
  const findings = JSON.parse(stdout) as Finding[]
  expect(findings.map(({ check, ok, level, detail }) => [check, ok, level, detail.split(' ')[0]])).toEqual([
    ['configuration', false, 'fail', 'PORT'],
    ['configuration', false, 'fail', 'MAX_QUEUE_AGE'],
  ])
  const table = await sgw(['doctor'], { ...BROKEN, DATABASE_URL: folder.database })
  expect(table.stdout).toMatch(/^✗ configuration  PORT /)
  expect(readdirSync(folder.path)).toEqual([])
})

test.concurrent('the doctor warns of a misspelt variable as the start does, also beside a bad value', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database, RC_CLIENTID: 'x', FROM_LIMIT: '80' }
  const configuration = async (more: Record<string, string>): Promise<unknown[]> => {
    const { stdout } = await sgw(['doctor', '--json'], { ...env, ...more })
    return (JSON.parse(stdout) as Finding[]).filter(({ check }) => check === 'configuration')
  }
  const [from, id] = [
    'FROM_LIMIT is not a variable of sgw: did you mean FROM_LIMIT_PER_MINUTE?',
    'RC_CLIENTID is not a variable of sgw: did you mean RC_CLIENT_ID?',
  ]
  const warning = { check: 'configuration', ok: true, level: 'warn' }
  const both = [{ ...warning, detail: `development; ${from} ${id}` }]
  expect(await configuration({})).toEqual(both)
  await sgw(['tenant', 'create', '--name', 'Acme'], env)
  expect(await configuration({})).toEqual(both)
  expect(await configuration({ PORT: 'eighty' })).toMatchObject([
    { check: 'configuration', ok: false, level: 'fail', detail: expect.stringContaining('PORT') },
    { ...warning, detail: from },
    { ...warning, detail: id },
  ])
})

test.concurrent('the doctor works without a server, and in development without a network', async () => {
  using folder = temporaryFolder()
  await sgw(['tenant', 'create', '--name', 'Acme'], { DATABASE_URL: folder.database })
  const { code, stdout } = await sgw(['--json', 'doctor'], { DATABASE_URL: folder.database })
  expect((JSON.parse(stdout) as Finding[]).filter(({ ok }) => !ok)).toEqual([])
  expect(code).toBe(0)
  const table = await sgw(['doctor'], { DATABASE_URL: folder.database })
  expect(table).toMatchObject({ code: 0, stdout: expect.stringMatching(/^– backup +off: .*\n– alerts +off: /m) })
})

test.concurrent('the doctor posts a test alert without a server or database, and does not print a bad address', async () => {
  using folder = temporaryFolder()
  const DATABASE_URL = folder.database
  const alert = async (env: Record<string, string>): Promise<Finding | undefined> => {
    const { code, stdout } = await sgw(['doctor', '--alert', '--json'], { DATABASE_URL, ...env })
    expect(code).toBe(1)
    return (JSON.parse(stdout) as Finding[]).find(({ detail }) => detail.includes('ALERT_URL'))
  }
  expect(await alert({})).toMatchObject({ check: 'alert', detail: expect.stringContaining('is not set') })
  expect(await alert({ ALERT_URL: 'http://127.0.0.1:9/SECRET' })).toMatchObject({ check: 'alert', level: 'fail' })
  const bad = await alert({ ALERT_URL: 'ftp://hooks.example.com/SECRET' })
  expect(bad).toMatchObject({ check: 'configuration', level: 'fail' })
  expect(bad?.detail).not.toContain('SECRET')
})

test.concurrent('the doctor finds a provider that cannot be reached and an address that only this machine can reach', async () => {
  using folder = temporaryFolder()
  const env = {
    DATABASE_URL: folder.database,
    RC_CLIENT_ID: 'client',
    RC_CLIENT_SECRET: 'client-key',
    RC_SERVER_URL: 'http://127.0.0.1:9',
  }
  const { code, stdout } = await sgw(['--json', 'doctor'], env)
  expect(code).toBe(1)
  expect((JSON.parse(stdout) as Finding[]).filter(({ ok }) => !ok).map(({ check }) => check)).toEqual([
    'provider',
    'public address',
  ])
})

test.concurrent('without a server every other command refuses a bad configuration and lists all problems on stderr', async () => {
  const { code, stdout, stderr } = await sgw(['--json', 'tenant', 'list'], BROKEN)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  const { error } = JSON.parse(stderr) as { error: string }
  expect(error.split('\n').map((line) => line.split(' ')[0])).toEqual(['PORT', 'MAX_QUEUE_AGE'])
})

test.concurrent('a server is stopped from its folder, although its .env was edited and no start would take it', async () => {
  using folder = temporaryFolder()
  const edit = (lines: Record<string, string>): void =>
    writeFileSync(
      folder.file('.env'),
      Object.entries(lines)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    )
  const inFolder = (words: string[]) => startProgram('src/cli.ts', words, { BUN_OPTIONS: '' }, folder.path)
  const port = String(freePort())
  edit({ PORT: port })
  await using server = startProgram('src/main.ts', [], { BUN_OPTIONS: '' }, folder.path)
  await server.printed(/Console/)
  edit({ PORT: port, NODE_ENV: 'production', PUBLIC_URL: 'http://sms.example.com' })
  const doctor = await inFolder(['doctor']).ended()
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toMatch(/^✗ configuration +PUBLIC_URL is "http:/m)
  expect(doctor.stdout).toMatch(
    /^! environment +the checks below are about the running server, .*: NODE_ENV, PUBLIC_URL differ; correct/m,
  )
  expect(doctor.stdout).toMatch(/^✓ server /m)
  const stopped = await inFolder(['stop']).ended()
  expect(stopped).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^The server is running, but would not start again/),
  })
  expect((await server.ended()).code).toBe(0)
}, 60_000)

test.concurrent('secret prints a new key each time, even if the configuration has no key', async () => {
  const keys = await Promise.all(
    [{}, BROKEN, { NODE_ENV: 'production' }].map(async (env) => {
      const { code, stdout } = await sgw(['secret', '--json'], env)
      expect(code).toBe(0)
      return (JSON.parse(stdout) as { key: string }).key
    }),
  )
  for (const key of keys) expect(Uint8Array.fromBase64(key).length).toBe(32)
  expect(new Set(keys).size).toBe(3)
  const bare = await sgw(['secret'], {})
  expect(Uint8Array.fromBase64(bare.stdout.trim()).length).toBe(32)
})

test.concurrent('--help and --version exit with 0', async () => {
  const help = await sgw(['--help'], {})
  expect({ code: help.code, stderr: help.stderr }).toEqual({ code: 0, stderr: '' })
  for (const command of ['tenant', 'app', 'send', 'status', 'doctor', 'health', 'secret'])
    expect(help.stdout).toContain(command)
  expect((await sgw(['--version'], {})).stdout).toBe(`${VERSION}\n`)
})

test.concurrent('a database that cannot be opened exits with 1', async () => {
  expect((await sgw(['--json', 'tenant', 'list'], { DATABASE_URL: 'file:/dev/null/sgw.db' })).code).toBe(1)
})

test.concurrent('a command waits for a database that another process holds, then exits with 1', async () => {
  using folder = temporaryFolder()
  await using holder = startProgram('test/db/fixtures/hold-process-lock.ts', [folder.file('sgw.db')])
  await holder.printed(/held/)
  const { code, stdout, stderr } = await sgw(['--json', 'tenant', 'list'], { DATABASE_URL: folder.database })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(JSON.parse(stderr)).toEqual({ error: expect.stringMatching(/^Another process uses .*: stop it first/) })
}, 30_000)
