import { expect, test } from 'bun:test'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { sgw, startServer, temporaryFolder } from '../support/process.ts'
import { freePort } from '../support/program.ts'
import { FROM, TO, until } from '../support/world.ts'
import { MIGRATIONS } from '../../src/db/migrations.ts'
import { connectedServer } from '../server/connected-server.ts'

type Json = Record<string, unknown>

const WHAT_TO_DO =
  'Run this in the folder of the server, or with its DATABASE_URL; the first start (sgw start) creates one'
const FROM_DATABASE = 'No server answers: these figures are from its database\n'
const made = (path: string): string => `There was no database at ${path}: an empty one was created\n`

/** Runs commands in one environment. `json` requires that stdout is one JSON value and stderr is empty. */
function commandLine(env: Record<string, string>) {
  const run = (...words: string[]) => sgw(words, env)
  const json = async <T = Json>(...words: string[]): Promise<T> => {
    const { code, stdout, stderr } = await run('--json', ...words)
    const note = words[0] === 'status' ? FROM_DATABASE : made(env['DATABASE_URL']?.replace('file:', '') ?? '')
    expect({ code, stderr: stderr.replace(note, '') }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toEndWith('\n')
    return JSON.parse(stdout) as T
  }
  return { run, json }
}

/** Creates, changes and deactivates tenants and apps. The results are the same with and without a server. */
async function expectTenantAndAppCommands(env: Record<string, string>): Promise<void> {
  const { run, json } = commandLine(env)
  const tenant = await json('tenant', 'create', '--name', ' Acme & Söhne ')
  expect(tenant).toEqual({
    tenantId: expect.stringMatching(/^tenant_[0-9a-f]{16}$/),
    name: 'Acme & Söhne',
    status: 'active',
  })
  const tenantId = String(tenant['tenantId'])
  expect(await json<Json[]>('tenant', 'list')).toContainEqual(
    expect.objectContaining({ ...tenant, apps: 0, extensions: 0 }),
  )
  for (const [verb, status] of [
    ['suspend', 'suspended'],
    ['activate', 'active'],
    ['deactivate', 'inactive'],
    ['activate', 'active'],
  ]) {
    expect(await json('tenant', verb ?? '', tenantId)).toEqual({ ...tenant, status })
  }
  const app = await json(
    'app',
    'create',
    '--tenant',
    tenantId,
    '--name',
    'Support desk',
    '--webhook-url',
    'https://hooks.example.com/sms',
  )
  expect(Object.keys(app)).toEqual(
    expect.arrayContaining(['appId', 'tenantId', 'apiKey', 'apiKeyPrefix', 'webhookSecret']),
  )
  const appId = String(app['appId'])
  const [listed, ...others] = await json<Json[]>('app', 'list', '--tenant', tenantId)
  expect(others).toEqual([])
  expect(listed).toMatchObject({
    appId,
    name: 'Support desk',
    webhookUrl: 'https://hooks.example.com/sms',
    isActive: true,
  })
  expect(JSON.stringify(listed)).not.toContain(String(app['apiKey']))
  expect(listed).not.toHaveProperty('registeredBy')
  expect(await json<Json[]>('app', 'list', '--registered-by', appId)).toEqual([])
  const active = await run('--json', 'app', 'activate', appId)
  expect({ code: active.code, stdout: active.stdout }).toEqual({ code: 1, stdout: '' })
  expect(active.stderr).toContain('App is already active: sgw app rotate-key APP gives it a new key')
  const asked = await run('--json', 'app', 'deactivate', appId)
  expect({ code: asked.code, stdout: asked.stdout }).toEqual({ code: 2, stdout: '' })
  expect(asked.stderr).toContain('--yes')
  const rotated = await json('app', 'rotate-key', appId, '--yes')
  expect(rotated).toEqual({ appId, apiKey: expect.any(String), apiKeyPrefix: expect.any(String) })
  expect(rotated['apiKey']).not.toBe(app['apiKey'])
  const unasked = await run('app', 'rotate-webhook-secret', appId)
  expect(unasked).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--yes') })
  const resigned = await json('app', 'rotate-webhook-secret', appId, '--yes')
  expect(resigned).toEqual({ appId, webhookSecret: expect.stringMatching(/^whsec_/) })
  expect(resigned['webhookSecret']).not.toBe(app['webhookSecret'])
  expect(await json('app', 'deactivate', '--yes', appId)).toEqual({ appId, ok: true })
  expect(await json<Json[]>('apps', 'list', '--tenant', tenantId)).toMatchObject([{ appId, isActive: false }])
  const inactive = await run('app', 'rotate-key', '--yes', appId)
  expect(inactive).toMatchObject({ code: 1, stderr: expect.stringContaining('sgw app activate APP') })
  const revived = await json('app', 'activate', appId)
  expect(Object.keys(revived)).toEqual(['appId', 'apiKey', 'apiKeyPrefix'])
  expect(revived['apiKey']).not.toBe(app['apiKey'])
  expect(await json('status')).toMatchObject({
    version: expect.any(String),
    schema: MIGRATIONS.at(-1)?.name,
    queue: { send: 0 },
    extensions: {},
    subscriptions: {},
    backup: {},
  })
  const table = await run('tenant', 'list')
  expect(table.stdout).toMatch(/^tenantId +name +status +apps +extensions\n/)
  expect(table.stdout).toMatch(new RegExp(`^${tenantId} +Acme & Söhne +active +1 +0$`, 'm'))
  await expectFailures(env, tenantId)
}

/** Failures write one JSON value with advice to stderr, leave stdout empty, and exit with their code. */
async function expectFailures(env: Record<string, string>, tenantId: string): Promise<void> {
  const { run } = commandLine(env)
  const nobody = 'tenant_0000000000000000'
  const cases: [string[], number, string][] = [
    [['tenant', 'suspend', nobody], 1, 'Tenant not found: list them with sgw tenant list'],
    [['tenant', 'suspend', 'acme'], 1, 'Invalid tenantId format'],
    [['tenant', 'create', '--name', ' '], 1, 'name must be 1-100 characters'],
    [['app', 'create', '--tenant', nobody, '--name', 'x'], 1, 'Tenant not found or not active'],
    [['app', 'create', '--tenant', tenantId, '--name', 'x', '--webhook-url', 'ftp://x'], 1, 'Invalid webhookUrl'],
    [['app', 'activate', 'app_0000000000000000'], 1, 'App not found: list the apps with sgw app list'],
    [['app', 'rotate-key', '--yes', 'app_0000000000000000'], 1, 'App not found: list the apps with sgw app list'],
    [
      ['app', 'rotate-webhook-secret', '--yes', 'app_0000000000000000'],
      1,
      'App not found: list the apps with sgw app list',
    ],
    [['app', 'deactivate', '--yes', 'app_0000000000000000'], 1, 'App not found: list the apps with sgw app list'],
    [['app', 'list', '--tenant', nobody], 1, 'Tenant not found: list them with sgw tenant list'],
    [['tenant', 'create'], 2, "required option '--name <name>'"],
    [['app', 'create', '--name', 'x'], 2, "required option '--tenant <tenant>'"],
    [['tenant', 'suspend'], 2, "missing required argument 'tenant'"],
    [['tenant', 'paint'], 2, 'paint'],
    [['nonsense'], 2, 'nonsense'],
    [['tenant', 'list', '--colour'], 2, '--colour'],
    [['tenant', 'list', 'extra'], 2, 'extra'],
  ]
  // One after the other: each takes the lock of the database.
  for (const [words, code, text] of cases) {
    const ended = await run('--json', ...words)
    expect({ words, code: ended.code, stdout: ended.stdout }).toEqual({ words, code, stdout: '' })
    const { error, ...others } = JSON.parse(ended.stderr) as Json
    expect(error).toContain(text)
    expect(others).toEqual({})
  }
}

test.concurrent('without a server, every command that needs none works on the database file', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database, PORT: String(freePort()) }
  const { run } = commandLine(env)
  await expectTenantAndAppCommands(env)
  const refused = await run('send', '--from', FROM, '--to', TO, 'Hello')
  expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 7, stdout: '' })
  expect(refused.stderr).toContain('No server answers')
  expect((await run('health')).code).toBe(1)
  expect(existsSync(folder.file('sgw.db.sock'))).toBe(false)
}, 120_000)

test.concurrent('with a server, commands use its socket, which only its user can open', async () => {
  using folder = temporaryFolder()
  await using server = await startServer({ DATABASE_URL: folder.database })
  await server.printed(/limit=1/)
  expect((statSync(folder.file('sgw.db.sock')).mode & 0o777).toString(8)).toBe('600')
  const env = { DATABASE_URL: folder.database, PORT: String(server.port) }
  await expectTenantAndAppCommands(env)
  const { run, json } = commandLine(env)
  expect(await json('health')).toEqual({ status: 'ok' })
  const findings = await json<{ check: string; ok: boolean }[]>('doctor')
  expect(findings.filter(({ ok }) => !ok)).toEqual([])
  expect(findings.map(({ check }) => check)).toEqual(
    expect.arrayContaining(['configuration', 'database', 'disk', 'encryption keys', 'provider']),
  )
  expect((await run('health')).stdout).toMatch(/^status +ok\n$/)
}, 120_000)

test.concurrent('--json works before, between and after the words of a command', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database }
  const words = [
    ['--json', 'tenant', 'list'],
    ['tenant', '--json', 'list'],
    ['tenant', 'list', '--json'],
  ]
  const created = await sgw(['--json', 'tenant', 'create', '--name', 'Acme'], env)
  const tenant = JSON.parse(created.stdout) as Json
  for (const line of words) expect(JSON.parse((await sgw(line, env)).stdout)).toMatchObject([tenant])
  expect((await sgw(['app', 'list', '--tenant', String(tenant['tenantId'])], env)).stdout).toBe('none\n')
})

test.concurrent('a suspended tenant’s keys, also cached ones, are refused within a second, and accepted within a second after activation', async () => {
  using folder = temporaryFolder()
  await using server = await startServer({ DATABASE_URL: folder.database })
  const { json } = commandLine({ DATABASE_URL: folder.database })
  const { tenantId } = await json('tenant', 'create', '--name', 'Acme')
  const { apiKey, appId } = await json('app', 'create', '--tenant', String(tenantId), '--name', 'Desk')
  const status = async (key: unknown): Promise<number> =>
    (await fetch(`${server.url}/v1/apps`, { headers: { authorization: `Bearer ${String(key)}` } })).status
  for (let turn = 0; turn < 3; turn++) expect(await status(apiKey)).toBe(200)
  await json('tenant', 'suspend', String(tenantId))
  await until(async () => (await status(apiKey)) === 403, 1000)
  await json('tenant', 'activate', String(tenantId))
  await until(async () => (await status(apiKey)) === 200, 1000)
  const { apiKey: renewed } = await json('app', 'rotate-key', '--yes', String(appId))
  await until(async () => (await status(apiKey)) === 401, 1000)
  expect(await status(renewed)).toBe(200)
}, 120_000)

test.concurrent('commands say that no server runs, or that there is no database', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database }
  const missing = `There is no database at ${folder.file('sgw.db')}: nothing was done. ${WHAT_TO_DO}`
  for (const words of [['status'], ['tenant', 'list']])
    expect(await sgw(words, env)).toMatchObject({ code: 1, stdout: '', stderr: `${missing}\n` })
  const { code, stdout } = await sgw(['--json', 'doctor'], env)
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toContainEqual({
    check: 'database',
    ok: true,
    level: 'warn',
    detail: expect.stringContaining('the first start creates it'),
  })
  expect(existsSync(folder.file('sgw.db'))).toBe(false)
  await sgw(['tenant', 'create', '--name', 'Acme'], env)
  expect(await sgw(['status'], env)).toMatchObject({ code: 0, stderr: FROM_DATABASE })
  const findings = JSON.parse((await sgw(['--json', 'doctor'], env)).stdout) as Json[]
  expect(findings).toContainEqual({
    check: 'server',
    ok: true,
    level: 'warn',
    detail: expect.stringContaining('not running'),
  })
  await using _server = await startServer(env)
  expect(await sgw(['status'], env)).toMatchObject({ code: 0, stderr: '' })
  const served = JSON.parse((await sgw(['--json', 'doctor'], env)).stdout) as Json[]
  expect(served).toContainEqual({ check: 'server', ok: true, level: 'ok', detail: 'running' })
}, 120_000)

test.concurrent('the first tenant create says that it created the database', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database }
  const create = ['--json', 'tenant', 'create', '--name', 'Acme']
  expect(await sgw(create, env)).toMatchObject({ code: 0, stderr: made(folder.file('sgw.db')) })
  expect(await sgw(create, env)).toMatchObject({ code: 0, stderr: '' })
}, 120_000)

test.concurrent('without a database, no command creates or changes anything', async () => {
  using folder = temporaryFolder()
  const path = folder.file('nowhere/sgw.db')
  const commands = [
    ['erase', '--yes', '--phone', TO],
    ['erase', '--dry-run', '--phone', TO],
    ['compact'],
    ['tenant', 'suspend', 'tenant_0000000000000000'],
    ['app', 'create', '--tenant', 'tenant_0000000000000000', '--name', 'x'],
    ['app', 'activate', 'app_0000000000000000'],
    ['keys', 'rotate'],
    ['trigger-subscription', 'list', '--tenant', 'tenant_0000000000000000'],
  ]
  const stderr = `There is no database at ${path}: nothing was done. ${WHAT_TO_DO}\n`
  for (const words of commands)
    expect({ words, ...(await sgw(words, { DATABASE_URL: `file:${path}` })) }).toMatchObject({
      words,
      code: 1,
      stdout: '',
      stderr,
    })
  expect(existsSync(folder.file('nowhere'))).toBe(false)
  const empty = folder.file('empty.db')
  writeFileSync(empty, '')
  const refused = await sgw(['erase', '--yes', '--phone', TO], { DATABASE_URL: `file:${empty}` })
  expect(refused).toMatchObject({ code: 1, stderr: stderr.replace(path, empty) })
  expect(statSync(empty).size).toBe(0)
}, 120_000)

test.concurrent('a command waits for a server that is starting', async () => {
  using folder = temporaryFolder()
  // In production the server waits for commands, too: any of them may be first to have the database.
  const env = {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PUBLIC_URL: 'https://sms.example.com',
    RC_CLIENT_ID: 'client',
    RC_CLIENT_SECRET: 'client-key',
    ENCRYPTION_KEYS: crypto.getRandomValues(new Uint8Array(32)).toBase64(),
    DATABASE_URL: folder.database,
  }
  await sgw(['tenant', 'create', '--name', 'Acme'], env)
  const starting = startServer(env)
  const runs = await Promise.all(
    Array.from({ length: 4 }, async (_, turn) => (await Bun.sleep(turn * 100), sgw(['--json', 'tenant', 'list'], env))),
  )
  await using server = await starting
  expect(server.child.exitCode).toBeNull()
  const faults = runs.map(({ code, stderr }) => ({ code, stderr }))
  expect(faults).toEqual(runs.map(() => ({ code: 0, stderr: '' })))
}, 120_000)

test.concurrent('send submits a message; with --wait it prints the final status, and a failure exits with 1', async () => {
  using folder = temporaryFolder()
  const { simulator, server, env, run } = await connectedServer(folder.database)
  await using _ = server
  try {
    expect(await run('send', '--from', FROM, '--to', TO, 'Hello')).toMatchObject({
      messageId: expect.stringMatching(/^msg_/),
    })
    const sent = await run('send', '--from', FROM, '--to', TO, '--wait', 'it is + me')
    expect(sent).toMatchObject({ status: 'sent', rcMessageId: expect.any(String) })
    expect(simulator.control.messages({ direction: 'Outbound' }).map(({ text }) => text)).toContain('it is + me')
    const other = await sgw(['--json', 'send', '--from', '+15555550177', '--to', TO, 'Hello'], env)
    expect({ code: other.code, stdout: other.stdout }).toEqual({ code: 1, stdout: '' })
    expect(other.stderr).toContain('--app')
    const [app] = (await run(
      'app',
      'list',
      '--tenant',
      String(((await run('tenant', 'list')) as unknown as Json[])[0]?.['tenantId']),
    )) as unknown as Json[]
    const named = await sgw(
      ['--json', 'send', '--app', String(app?.['appId']), '--from', '+15555550177', '--to', TO, '--wait', 'Hello'],
      env,
    )
    expect({ code: named.code, status: (JSON.parse(named.stdout) as Json)['status'] }).toEqual({
      code: 1,
      status: 'failed',
    })
    for (const words of [
      ['--from', FROM, '--to', 'nobody', 'x'],
      ['--from', FROM, '--to', TO, ''],
    ])
      expect((await sgw(['send', ...words], env)).code).toBe(1)
    expect((await sgw(['send', '--from', FROM, '--to', TO], env)).code).toBe(2)
  } finally {
    await simulator.stop()
  }
}, 120_000)
