import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readConfig } from '../../src/core/config.ts'
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync, statSync } from 'node:fs'
import { PipedProgram, sgw, startProgram, startServer, temporaryFolder } from '../support/process.ts'
import type { Finished } from '../support/program.ts'

/** Runs a start that is refused. Returns its exit code and the lines on stderr. */
async function refusedStart(env: Record<string, string>): Promise<Finished & { lines: string[] }> {
  await using program = startProgram('src/main.ts', [], env)
  const ended = await program.ended()
  return { ...ended, lines: ended.stderr.trim().split('\n') }
}

const KEY = crypto.getRandomValues(new Uint8Array(32)).toBase64()

test.concurrent('a port in use ends the start with 69 and one line of advice, and does not affect the first server', async () => {
  using folder = temporaryFolder()
  using other = temporaryFolder()
  await using server = await startServer({ DATABASE_URL: folder.database })
  const { code, lines, stdout } = await refusedStart({
    PORT: String(server.port),
    DATABASE_URL: `file:${other.file('misspelt/sgw.db')}`,
  })
  expect({ code, lines }).toEqual({
    code: 69,
    lines: [`Port ${server.port} is in use: stop the other program, or set PORT to a free one`],
  })
  expect(stdout).not.toContain('API key')
  expect(readdirSync(other.path)).toEqual([])
  expect((await fetch(`${server.url}/health`)).status).toBe(200)
})

test.concurrent('an address of another machine ends the start with 69', async () => {
  using folder = temporaryFolder()
  const { code, lines } = await refusedStart({ HOST: '192.0.2.1', PORT: '0', DATABASE_URL: folder.database })
  expect({ code, count: lines.length }).toEqual({ code: 69, count: 1 })
  expect(lines[0]).toContain('check HOST and PORT')
})

test.concurrent('a HOST that is no address and no name ends the start with 78, and the message says what to write', async () => {
  using folder = temporaryFolder()
  for (const host of ['*', '127.0.0.1:3000']) {
    const { code, lines } = await refusedStart({ HOST: host, PORT: '0', DATABASE_URL: folder.database })
    expect({ code, count: lines.length }).toEqual({ code: 78, count: 1 })
    expect(lines[0]).toContain(`HOST is "${host}": give an address or a name of this machine without a port`)
  }
})

test.concurrent('a host name that cannot be resolved ends the start with 69, and the message names it', async () => {
  using folder = temporaryFolder()
  const { code, lines } = await refusedStart({ HOST: 'nowhere.invalid', PORT: '0', DATABASE_URL: folder.database })
  expect({ code, count: lines.length }).toEqual({ code: 69, count: 1 })
  expect(lines[0]).toContain('HOST')
})

test.concurrent('a folder at the path of the database ends the start with 73 and one line', async () => {
  using folder = temporaryFolder()
  const { code, lines } = await refusedStart({ PORT: '0', DATABASE_URL: `file:${folder.path}` })
  expect({ code, lines }).toEqual({
    code: 73,
    lines: [`${folder.path} is a folder: set DATABASE_URL=file:PATH to a file in it`],
  })
})

test.concurrent('a device or pipe at the path of the database ends the start with 73, and keeps its mode', async () => {
  using folder = temporaryFolder()
  const pipe = folder.file('pipe')
  Bun.spawnSync(['mkfifo', '-m', '644', pipe])
  const { code, lines } = await refusedStart({ PORT: '0', DATABASE_URL: `file:${pipe}` })
  expect({ code, lines }).toEqual({
    code: 73,
    lines: [`${pipe} is not a regular file: set DATABASE_URL=file:PATH to another`],
  })
  expect(statSync(pipe).mode & 0o777).toBe(0o644)
})

test.concurrent('a restore mark that cannot be written ends the start with 73 and one line', async () => {
  using folder = temporaryFolder()
  await sgw(['tenant', 'create', '--name', 'Acme'], { DATABASE_URL: folder.database })
  rmSync(folder.file('sgw.db.mark'))
  mkdirSync(folder.file('sgw.db.mark'))
  const { code, lines } = await refusedStart({ PORT: '0', DATABASE_URL: folder.database })
  expect({ code, count: lines.length }).toEqual({ code: 73, count: 1 })
  expect(lines[0]).toMatch(/^Cannot mark the database in .*sgw\.db\.mark \(.*EISDIR.*\): check/)
})

/** Runs a start whose process cannot write beyond `bytes` of any file, as on a full disk. */
async function startOnFullDisk(bytes: number, env: Record<string, string>): Promise<Finished> {
  const command = ['prlimit', `--fsize=${bytes}`, process.execPath, 'src/main.ts']
  const environment = { PATH: process.env['PATH'], HOME: process.env['HOME'], NO_COLOR: '1', PORT: '0', ...env }
  await using program = new PipedProgram(
    Bun.spawn(command, { env: environment, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' }),
  )
  return await program.ended()
}

/** At the smaller limits the secrets cannot be written, then the database, its migrations, and what the built-in simulator needs. */
test.each([0, 60, 16_384, 300_000])(
  'a first start that can write only %d bytes of a file ends with 73 and one line, and starts once there is space',
  async (bytes) => {
    using folder = temporaryFolder()
    const env = { DATABASE_URL: folder.database }
    const { code, stderr } = await startOnFullDisk(bytes, env)
    expect({ code, lines: stderr.trim().split('\n') }).toEqual({
      code: 73,
      lines: [expect.stringMatching(/^Cannot write in .*(free some space|has space)/)],
    })
    await using server = await startServer(env)
    await server.printed(/limit=1/)
  },
)

test.each([0, 16_384])(
  'a later start that can write only %d bytes of a file ends with 73 and one line, with the simulator',
  async (bytes) => {
    using folder = temporaryFolder()
    const env = { DATABASE_URL: folder.database }
    {
      await using server = await startServer(env)
      await server.printed(/limit=1/)
      server.kill('SIGTERM')
      await server.ended()
    }
    const { code, stderr } = await startOnFullDisk(bytes, env)
    expect({ code, lines: stderr.trim().split('\n') }).toEqual({
      code: 73,
      lines: [
        expect.stringMatching(/^(Cannot write in|The built-in simulator could not be connected, because the storage)/),
      ],
    })
  },
)

test.concurrent('with the keys of another database the start ends with 78 and one line, unless ALLOW_NEW_KEYS is on', async () => {
  using folder = temporaryFolder()
  const logged = async (key: string, more: Record<string, string> = {}): Promise<string> => {
    await using server = await startServer({ DATABASE_URL: folder.database, ENCRYPTION_KEYS: key, ...more })
    await server.printed(/limit=1/)
    return server.stdout
  }
  const other = crypto.getRandomValues(new Uint8Array(32)).toBase64()
  const complaint = /ENCRYPTION_KEYS has no key that can decrypt the stored secrets of app_[0-9a-f]{16}, /
  expect(await logged(KEY)).not.toMatch(complaint)
  const { code, lines } = await refusedStart({ DATABASE_URL: folder.database, ENCRYPTION_KEYS: other, PORT: '0' })
  expect({ code, lines }).toEqual({ code: 78, lines: [expect.stringMatching(complaint)] })
  expect(lines[0]).toContain('Put the old key back, behind the newest')
  expect(lines[0]).toContain('ALLOW_NEW_KEYS=on')
  expect(await logged(other, { ALLOW_NEW_KEYS: 'on' })).toMatch(complaint)
  expect(await logged(`${other},${KEY}`)).not.toMatch(complaint)
}, 60_000)

test.concurrent('a folder that cannot be written ends the start with 73 and one line', async () => {
  using folder = temporaryFolder()
  writeFileSync(folder.file('file'), '')
  const { code, lines } = await refusedStart({ PORT: '0', DATABASE_URL: `file:${folder.file('file/sgw.db')}` })
  expect({ code, count: lines.length }).toEqual({ code: 73, count: 1 })
  expect(lines[0]).toMatch(/^Cannot write in .*: check that .* or set DATABASE_URL=file:PATH$/)
})

test.concurrent('a file that is not a database ends the start with 73 and one line, and is not changed', async () => {
  using folder = temporaryFolder()
  const text = 'this is somebody’s letter, not a database. '.repeat(200)
  writeFileSync(folder.file('sgw.db'), text)
  const { code, lines } = await refusedStart({ PORT: '0', DATABASE_URL: folder.database })
  expect({ code, count: lines.length }).toEqual({ code: 73, count: 1 })
  expect(lines[0]).toMatch(/^The database .* is damaged \(SQLITE_NOTADB\): /)
  expect(await Bun.file(folder.file('sgw.db')).text()).toBe(text)
})

test.concurrent('REQUIRE_RESTORE without a database ends the start with 78 and one line, and creates no database', async () => {
  using folder = temporaryFolder()
  const { code, lines } = await refusedStart({ PORT: '0', DATABASE_URL: folder.database, REQUIRE_RESTORE: 'true' })
  expect({ code, count: lines.length }).toEqual({ code: 78, count: 1 })
  expect(lines[0]).toStartWith('REQUIRE_RESTORE is set and ')
  expect(existsSync(folder.file('sgw.db'))).toBe(false)
})

test.concurrent('a newer database ends the start with 78 and one line', async () => {
  using folder = temporaryFolder()
  await (await startServer({ DATABASE_URL: folder.database }))[Symbol.asyncDispose]()
  const database = new Database(folder.file('sgw.db'))
  database.run("INSERT INTO schema_migrations VALUES (9999, '9999_of_the_future', 'x')")
  database.close()
  const { code, lines } = await refusedStart({ PORT: '0', DATABASE_URL: folder.database })
  expect({ code, count: lines.length }).toEqual({ code: 78, count: 1 })
  expect(lines[0]).toContain('The database is newer than this program (it has migration 9999_of_the_future)')
})

test.concurrent('a damaged key file ends the start with 78', async () => {
  using folder = temporaryFolder()
  for (const text of ['', 'AAAA\n', 'not base64 at all, and much longer than a key would ever be\n']) {
    writeFileSync(folder.file('encryption.key'), text)
    const { code, lines } = await refusedStart({ PORT: '0', DATABASE_URL: folder.database })
    expect({ code, count: lines.length }).toEqual({ code: 78, count: 1 })
    expect(lines[0]).toContain('encryption.key contains no key')
  }
})

test.concurrent('a database that is restored without its key file ends the start with 78, and no new key lies beside it', async () => {
  using lost = temporaryFolder()
  using folder = temporaryFolder()
  await sgw(['tenant', 'create', '--name', 'Acme'], { DATABASE_URL: lost.database })
  await sgw(['backup', folder.file('sgw.db')], { DATABASE_URL: lost.database })
  const env = { PORT: '0', DATABASE_URL: folder.database }
  const { code, lines } = await refusedStart(env)
  expect({ code, count: lines.length }).toEqual({ code: 78, count: 1 })
  expect(lines[0]).toStartWith(`${folder.file('encryption.key')} is missing, but there is a database beside it`)
  expect(await sgw(['tenant', 'list'], env)).toMatchObject({ code: 1, stdout: '', stderr: `${lines[0]}\n` })
  expect(existsSync(folder.file('encryption.key'))).toBe(false)
  copyFileSync(lost.file('encryption.key'), folder.file('encryption.key'))
  expect(await sgw(['tenant', 'list'], env)).toMatchObject({ code: 0, stdout: expect.stringContaining('Acme') })
})

test.concurrent('in development a database whose key is lost for good starts with ALLOW_NEW_KEYS, which makes a new one', async () => {
  using folder = temporaryFolder()
  await sgw(['tenant', 'create', '--name', 'Acme'], { DATABASE_URL: folder.database })
  rmSync(folder.file('encryption.key'))
  await using server = await startServer({ DATABASE_URL: folder.database, ALLOW_NEW_KEYS: 'on' })
  await server.printed(/limit=1/)
  expect(existsSync(folder.file('encryption.key'))).toBe(true)
})

test.concurrent('bad variables end the start with 78 and one line each with its fix, without values of secrets or any write', async () => {
  using folder = temporaryFolder()
  const { code, lines, stdout } = await refusedStart({
    NODE_ENV: 'staging',
    PORT: '65536',
    PUBLIC_URL: 'sms.example.com',
    DATABASE_URL: folder.database,
    ENCRYPTION_KEYS: 'c2hvcnQ=',
    RC_SERVER_URL: 'http://provider.example.com',
    RC_CLIENT_ID: 'changeme',
    RC_CLIENT_SECRET_FILE: folder.file('nothing-here'),
    TRUSTED_PROXIES: '10.0.0.0/99',
    MAX_APPS_PER_TENANT: '0',
    MAX_TRIGGERS_PER_TENANT: 'many',
    MAX_QUEUE_AGE: '1 day',
    BUN_CONFIG_MAX_HTTP_REQUESTS: '127',
    PROVIDER_TIMEOUT: '10ms',
    KEY_LIMIT_PER_MINUTE: '-1',
    LITESTREAM: 'perhaps',
    LOG_LEVEL: 'loud',
    ADMIN_PORT: 'x',
    REDIS_URL: 'redis://localhost',
  })
  expect(code).toBe(78)
  const names = [
    'NODE_ENV',
    'PORT',
    'PUBLIC_URL',
    'ENCRYPTION_KEYS',
    'RC_SERVER_URL',
    'RC_CLIENT_ID',
    'RC_CLIENT_SECRET_FILE',
    'TRUSTED_PROXIES',
  ]
  names.push(
    'MAX_APPS_PER_TENANT',
    'MAX_TRIGGERS_PER_TENANT',
    'MAX_QUEUE_AGE',
    'BUN_CONFIG_MAX_HTTP_REQUESTS',
    'PROVIDER_TIMEOUT',
    'KEY_LIMIT_PER_MINUTE',
    'LITESTREAM',
    'LOG_LEVEL',
    'ADMIN_PORT',
    'REDIS_URL',
  )
  expect(lines.map((line) => line.split(' ')[0]).toSorted()).toEqual(names.toSorted())
  for (const line of lines) expect(line).toMatch(/^[A-Z_0-9]+ .+: .+$/)
  expect(lines.join('\n')).not.toContain('c2hvcnQ=')
  expect(stdout).toBe('')
  expect(readdirSync(folder.path)).toEqual([])
})

test.concurrent('missing variables of production end the start with 78 and are all named', async () => {
  using folder = temporaryFolder()
  const home = { NODE_ENV: 'production', DATABASE_URL: folder.database }
  const namesOf = async (more: Record<string, string>): Promise<(string | undefined)[]> => {
    const { code, lines } = await refusedStart({ ...home, ...more })
    expect(code).toBe(78)
    return lines.map((line) => line.split(' ')[0]).toSorted()
  }
  const app = ['RC_CLIENT_ID', 'RC_CLIENT_SECRET']
  expect(await namesOf({})).toEqual(app)
  expect(await namesOf({ PUBLIC_URL: 'https://sms.example.com' })).toEqual(['ENCRYPTION_KEYS', ...app])
  expect(await namesOf({ RC_EVENTS: 'webhook' })).toEqual(['ENCRYPTION_KEYS', 'PUBLIC_URL', ...app])
  const insecure = await refusedStart({
    NODE_ENV: 'production',
    DATABASE_URL: folder.database,
    ENCRYPTION_KEYS: KEY,
    PUBLIC_URL: 'http://sms.example.com',
    RC_CLIENT_ID: 'id',
    RC_CLIENT_SECRET: 'x'.repeat(9),
  })
  expect(insecure.lines.map((line) => line.split(' ')[0])).toEqual(['PUBLIC_URL', 'RC_CLIENT_SECRET'])
  expect(existsSync(folder.file('sgw.db'))).toBe(false)
})

test.concurrent('production starts with secrets in files (NAME_FILE), and an empty file is refused', async () => {
  using folder = temporaryFolder()
  const secrets = { ENCRYPTION_KEYS: KEY, RC_CLIENT_ID: 'client-of-ours', RC_CLIENT_SECRET: 'client-key-of-ours' }
  for (const [name, value] of Object.entries(secrets)) writeFileSync(folder.file(name), `${value}\n`)
  const files = Object.fromEntries(Object.keys(secrets).map((name) => [`${name}_FILE`, folder.file(name)]))
  const env = {
    NODE_ENV: 'production',
    HOST: '127.0.0.1',
    PUBLIC_URL: 'https://sms.example.com',
    DATABASE_URL: folder.database,
    RC_SERVER_URL: 'http://127.0.0.1:9',
    ...files,
  }
  await using server = await startServer(env)
  expect(server.stdout).not.toContain('sgw_')
  expect(readdirSync(folder.path)).not.toContain('encryption.key')
  server.kill('SIGTERM')
  const ended = await server.ended()
  expect(ended.code).toBe(0)
  for (const value of Object.values(secrets)) expect(ended.stdout + ended.stderr).not.toContain(value)
  writeFileSync(folder.file('RC_CLIENT_ID'), '\n')
  const { code, lines } = await refusedStart(env)
  expect({ code, lines: lines.map((line) => line.split(' ')[0]) }).toEqual({ code: 78, lines: ['RC_CLIENT_ID_FILE'] })
})

test('a secret that is set twice and a too short duration are reported', () => {
  const problems = (values: Record<string, string>): string[] => {
    const result = readConfig({ values, readFile: () => KEY })
    return result.ok ? [] : result.problems
  }
  expect(problems({ ENCRYPTION_KEYS: KEY, ENCRYPTION_KEYS_FILE: '/x' })).toEqual([
    'ENCRYPTION_KEYS and ENCRYPTION_KEYS_FILE are both set: keep one of them',
  ])
  expect(problems({ ENCRYPTION_KEYS: '', ENCRYPTION_KEYS_FILE: '/x' })).toEqual([])
  expect(problems({ MAX_QUEUE_AGE: '0s' })).toEqual([
    'MAX_QUEUE_AGE is "0s": give a duration such as 500ms, 15s, 5m, 24h or 7d, at least 1000 ms',
  ])
})

test('a range of addresses is accepted only in its canonical form', () => {
  const accepts = (value: string): boolean =>
    readConfig({ values: { WEBHOOK_ALLOW_CIDRS: value }, readFile: () => '' }).ok
  for (const plain of ['10.0.0.0/8', '10.1.2.3', 'fd00::/8', '::1', '10.0.0.0/0'])
    expect([plain, accepts(plain)]).toEqual([plain, true])
  for (const odd of [
    '10.0.0',
    '1',
    '10.0/16',
    '010.0.0.0/8',
    '10.0.0.0/08',
    '0x7f000001',
    '10.0.0.0/33',
    '10.0.0.0/',
    'fd00::/129',
  ])
    expect([odd, accepts(odd)]).toEqual([odd, false])
})

test('the public address has a scheme, a host and an optional path', () => {
  const accepts = (value: string): boolean => readConfig({ values: { PUBLIC_URL: value }, readFile: () => '' }).ok
  for (const plain of [
    'https://sms.example.com',
    'http://localhost:8080/sgw/',
    'http://10.0.0.1',
    'http://[::1]:80',
    'https://bücher.example',
    'http://my_host',
    'https://a/x@y',
  ])
    expect([plain, accepts(plain)]).toEqual([plain, true])
  for (const odd of [
    'https://a;b',
    'https://*',
    'https://*.example.com',
    "https://a'b",
    'https://a,b',
    'https://:pw@a',
    'https://u@a',
    'https://a?b',
    'https://a#b',
    'https://a?',
    'https://a#',
    'https://@a',
    'https:///a',
    'https:a',
    String.raw`https:\\a`,
    String.raw`https://a\b`,
    'https://a\tb',
    'ftp://a',
    'https://',
  ])
    expect([odd, accepts(odd)]).toEqual([odd, false])
})

const PRODUCTION = {
  NODE_ENV: 'production',
  ENCRYPTION_KEYS: KEY,
  PUBLIC_URL: 'https://sms.example.com',
  RC_CLIENT_ID: 'client-of-ours',
  RC_CLIENT_SECRET: 'client-key-of-ours',
}

/** Returns the first word of each problem. */
const problemsOf = (values: Record<string, string>): string[] => {
  const result = readConfig({ values: { ...PRODUCTION, ...values }, readFile: () => '' })
  return result.ok ? [] : result.problems.map((problem) => problem.split(' ')[0] ?? '')
}

test('the provider’s address is https, or http on this machine, without credentials', () => {
  const verdict = (url: string): boolean => problemsOf({ RC_SERVER_URL: url }).length === 0
  for (const right of [
    'https://platform.ringcentral.com',
    'https://127.0.0.1.example.com',
    'http://127.0.0.1:4010',
    'http://127.1',
    'http://localhost:4010/',
    'http://[::1]:4010',
  ])
    expect([right, verdict(right)]).toEqual([right, true])
  for (const wrong of [
    'http://127.0.0.1.example.com',
    'http://127.example.com',
    'http://localhost.example.com',
    'http://localhost@evil.example.com',
    'http://127.0.0.1@evil.example.com',
    'http://user@127.0.0.1',
    'http://user:hunter2@localhost',
    'https://user:hunter2@platform.ringcentral.com',
    'https://platform.ringcentral.com?x=1',
    'https://platform.ringcentral.com#x',
    'http://10.0.0.1',
    'http://[::2]',
    String.raw`http://localhost\@evil.example.com`,
  ])
    expect([wrong, verdict(wrong)]).toEqual([wrong, false])
})

test('a password in an address is not repeated in the refusal', () => {
  for (const name of ['RC_SERVER_URL', 'PUBLIC_URL']) {
    const result = readConfig({
      values: { ...PRODUCTION, [name]: 'https://user:hunter2@a.example.com' },
      readFile: () => '',
    })
    expect(result.ok ? [] : result.problems).toEqual([expect.stringContaining(`${name} is "https://…@a.example.com"`)])
  }
})

test('production refuses too wide ranges of proxies, and development accepts them', () => {
  for (const range of ['0.0.0.0/0', '::/0', '0.0.0.0/1', '2000::/3', '10.0.0.0/8, 0.0.0.0/0'])
    expect([range, problemsOf({ TRUSTED_PROXIES: range })]).toEqual([range, ['TRUSTED_PROXIES']])
  for (const range of ['127.0.0.1', '10.0.0.0/8', 'fc00::/7', '172.30.77.0/24, ::1'])
    expect([range, problemsOf({ TRUSTED_PROXIES: range })]).toEqual([range, []])
  expect(readConfig({ values: { TRUSTED_PROXIES: '0.0.0.0/0' }, readFile: () => '' }).ok).toBe(true)
})

test.concurrent('production refuses unsafe settings with 78 and one line each, and writes nothing', async () => {
  using folder = temporaryFolder()
  const { code, lines } = await refusedStart({
    ...PRODUCTION,
    DATABASE_URL: folder.database,
    RC_SERVER_URL: 'http://127.0.0.1.example.com',
    TRUSTED_PROXIES: '0.0.0.0/0',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  })
  expect(code).toBe(78)
  expect(lines.map((line) => line.split(' ')[0])).toEqual([
    'RC_SERVER_URL',
    'TRUSTED_PROXIES',
    'NODE_TLS_REJECT_UNAUTHORIZED',
  ])
  expect(readdirSync(folder.path)).toEqual([])
  expect(readConfig({ values: { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, readFile: () => '' }).ok).toBe(true)
})

test('misspelt variables are named with the right spelling, and other variables are ignored', () => {
  const warningsOf = (...names: string[]): string[] =>
    readConfig({ values: Object.fromEntries(names.map((name) => [name, 'x'])), readFile: () => '' }).warnings
  for (const [given, meant] of [
    ['RC_CLIENTID', 'RC_CLIENT_ID'],
    ['RC_APP_CLIENT_ID', 'RC_CLIENT_ID'],
    ['RC_APP_CLIENT_SECRET', 'RC_CLIENT_SECRET'],
    ['RC_USER_JWT', 'RC_JWT'],
    ['RINGCENTRAL_SERVER_URL', 'RC_SERVER_URL'],
    ['RC_CLINET_SECRET', 'RC_CLIENT_SECRET'],
    ['RC_CLIENT_SECRETFILE', 'RC_CLIENT_SECRET_FILE'],
    ['FROM_LIMIT', 'FROM_LIMIT_PER_MINUTE'],
    ['MESSAGE_RETENTION', 'MESSAGE_RETENTION_DAYS'],
    ['PUBLIC_URI', 'PUBLIC_URL'],
    ['TRUSTED_PROXY', 'TRUSTED_PROXIES'],
    ['SGW_ADMIN_PORT', 'ADMIN_PORT'],
    ['log_level', 'LOG_LEVEL'],
    ['ENCRYPTION_KEY', 'ENCRYPTION_KEYS'],
    ['LITESTREAM_REPLICA', 'LITESTREAM_REPLICA_URL'],
  ] as const)
    expect(warningsOf(given)).toEqual([`${given} is not a variable of sgw: did you mean ${meant}?`])
  const strangers = ['PATH', 'HOME', 'HOSTNAME', 'PWD', 'TERM', 'SHELL', 'LANG', 'USER', 'TMPDIR', 'NODE_OPTIONS']
  strangers.push('npm_config_registry', 'BUN_INSTALL', 'AWS_REGION', 'REDIS_HOST', 'NO_COLOR', 'POST', 'INVOCATION_ID')
  strangers.push(
    'RC_CLIENT_ID_FILE',
    'https_proxy',
    'LITESTREAM_ENDPOINT',
    'SGW_HOST',
    'JOURNAL_STREAM',
    'XDG_SESSION_ID',
  )
  expect(warningsOf(...strangers)).toEqual([])
})

test.concurrent('a misspelt or unused variable is named at the start, together with the problem that it causes', async () => {
  using folder = temporaryFolder()
  await using server = await startServer({ DATABASE_URL: folder.database, FROM_LIMIT: '80', REDIS_URL: 'redis://x' })
  await server.printed(/"level":"warn".*FROM_LIMIT is not a variable of sgw: did you mean FROM_LIMIT_PER_MINUTE\?/)
  await server.printed(/"level":"warn".*REDIS_URL is set, and nothing uses it/)
  const { code, lines } = await refusedStart({ RC_CLIENTID: 'x', RC_CLIENT_SECRET: 'y', DATABASE_URL: folder.database })
  expect(code).toBe(78)
  expect(lines).toEqual([
    expect.stringContaining('RC_CLIENT_ID is not set'),
    'RC_CLIENTID is not a variable of sgw: did you mean RC_CLIENT_ID?',
  ])
})
