import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { sgw, startProgram, startServer, temporaryFolder } from '../support/process.ts'
import type { Finished } from '../support/program.ts'
import { runUnprivileged } from '../support/unprivileged.ts'
import { until } from '../support/world.ts'

type Folder = ReturnType<typeof temporaryFolder>

async function refusedStart(env: Record<string, string>): Promise<Finished> {
  await using program = startProgram('src/main.ts', [], { PORT: '0', ...env })
  return await program.ended()
}

const keyIn = (folder: Folder): string => readFileSync(folder.file('development-api-key'), 'utf8').trim()

function send(url: string, key: string, body: string): Promise<Response> {
  return fetch(`${url}/v1/sms/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ from: '+15555550100', to: '+15555550199', body }),
  })
}

const textsOf = async (url: string, key: string): Promise<string[]> => {
  const answer = await fetch(`${url}/v1/sms/messages?limit=100`, { headers: { authorization: `Bearer ${key}` } })
  return ((await answer.json()) as { messages: { body: string }[] }).messages.map(({ body }) => body)
}

/** Sends until the gateway refuses. Returns the accepted texts. */
async function sendUntilRefused(url: string, key: string, happen: () => void): Promise<string[]> {
  const accepted: string[] = []
  for (let number = 0; ; number++) {
    if (number === 30) happen()
    const answer = await send(url, key, `text ${number}`)
    if (answer.status !== 202) {
      expect([answer.status, await answer.json()]).toEqual([503, { error: 'Storage unavailable' }])
      return accepted
    }
    accepted.push(`text ${number}`)
    if (number > 1000) throw new Error('it goes on accepting')
  }
}

const LIMITS = { KEY_LIMIT_PER_MINUTE: '100000' }

test.concurrent('after rm sgw.db* under load, sgw doctor fails and sgw backup saves every accepted message for the next start', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database, ...LIMITS }
  let accepted: string[] = []
  {
    await using server = await startServer(env)
    await server.printed(/limit=1/)
    const key = keyIn(folder)
    accepted = await sendUntilRefused(server.url, key, () => {
      for (const name of readdirSync(folder.path)) if (name.startsWith('sgw.db')) rmSync(folder.file(name))
    })
    await until(() => existsSync(folder.file('sgw.db.sock')))
    const doctor = await sgw(['doctor'], env)
    expect(doctor.code).toBe(1)
    expect(doctor.stdout).toMatch(/^✗ database .*sgw backup FILE/m)
    const saved = await sgw(['backup', folder.file('saved.db'), '--json'], env)
    expect(saved).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(saved.stdout)).toMatchObject({ integrity: 'ok' })
    server.kill('SIGTERM')
    await server.ended()
  }
  for (const suffix of ['-wal', '-shm']) rmSync(folder.file(`sgw.db${suffix}`), { force: true })
  renameSync(folder.file('saved.db'), folder.file('sgw.db'))
  await using server = await startServer(env)
  await server.printed(/limit=1/)
  expect(accepted.length).toBeGreaterThan(29)
  const stored = await until(async () => {
    const texts = await textsOf(server.url, keyIn(folder))
    return texts.length > 0 && texts
  })
  expect(stored.toSorted()).toEqual(accepted.slice(-100).toSorted())
}, 60_000)

test.concurrent('a database that is missing beside its mark does not start: 78 and what to do', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database }
  await sgw(['tenant', 'create', '--name', 'Acme'], env)
  const path = folder.file('sgw.db')
  for (const empty of [() => rmSync(path), () => writeFileSync(path, '')]) {
    empty()
    const { code, stderr } = await refusedStart(env)
    expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringMatching(/^[^\n]+\n$/) })
    expect(stderr).toContain(`${path} is missing or empty, but ${path}.mark says that a gateway has used it`)
    expect(stderr).toContain('sgw restore')
  }
  const created = await sgw(['tenant', 'create', '--name', 'Acme'], env)
  expect(created).toMatchObject({ code: 1, stdout: '' })
  const doctor = await sgw(['doctor'], env)
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toMatch(/^✗ database .*missing or empty/m)
  rmSync(`${path}.mark`)
  await using _server = await startServer(env)
}, 60_000)

test.concurrent('after rm sgw.db* and a stop without a backup, the next start is refused and names the copy that the gateway saved', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database, ...LIMITS }
  let accepted: string[] = []
  {
    await using server = await startServer(env)
    await server.printed(/limit=1/)
    accepted = await sendUntilRefused(server.url, keyIn(folder), () => {
      for (const name of readdirSync(folder.path)) if (name.startsWith('sgw.db')) rmSync(folder.file(name))
    })
    server.kill('SIGTERM')
    await server.ended()
  }
  const saved = readdirSync(folder.path).find((name) => name.startsWith('sgw.db.saved-')) ?? ''
  const refused = await refusedStart(env)
  expect(refused).toMatchObject({
    code: 78,
    stderr: expect.stringContaining(`a gateway saved it as ${folder.file(saved)}`),
  })
  renameSync(folder.file(saved), folder.file('sgw.db'))
  await using server = await startServer(env)
  await server.printed(/limit=1/)
  expect((await textsOf(server.url, keyIn(folder))).toSorted()).toEqual(accepted.slice(-100).toSorted())
}, 60_000)

test.concurrent('a new database beside the mark of a used one does not start', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database }
  await sgw(['tenant', 'create', '--name', 'Acme'], env)
  const path = folder.file('sgw.db')
  {
    using database = new Database(path)
    database.run("DELETE FROM facts WHERE name = 'incarnation'")
  }
  const [incarnation] = readFileSync(`${path}.mark`, 'utf8').split(' ')
  writeFileSync(`${path}.mark`, `${incarnation} 0000000000000007 0000000000000000 0000000000000000\n`)
  expect(await refusedStart(env)).toMatchObject({ code: 78, stderr: expect.stringContaining(`remove ${path}.mark`) })
}, 60_000)

test.concurrent('one database has one gateway, by whichever name it is opened and whatever became of sgw.db.lock', async () => {
  using folder = temporaryFolder()
  using other = temporaryFolder()
  const path = folder.file('sgw.db')
  await using server = await startServer({ DATABASE_URL: folder.database })
  await server.printed(/limit=1/)
  symlinkSync(path, other.file('link.db'))
  symlinkSync(folder.path, other.file('folder'))
  for (const name of [
    other.file('link.db'),
    other.file('folder/sgw.db'),
    `${folder.path}/../${folder.path.split('/').at(-1)}/sgw.db`,
  ]) {
    const env = { DATABASE_URL: `file:${name}` }
    const [{ tenantId }] = JSON.parse((await sgw(['tenant', 'list', '--json'], env)).stdout) as [{ tenantId: string }]
    expect((await sgw(['tenant', 'suspend', tenantId], env)).code).toBe(0)
    expect((await send(server.url, keyIn(folder), 'x')).status).toBe(403)
    expect((await sgw(['tenant', 'activate', tenantId], env)).code).toBe(0)
    expect((await send(server.url, keyIn(folder), 'x')).status).toBe(202)
  }
  expect(readdirSync(other.path).toSorted()).toEqual(['folder', 'link.db'])

  rmSync(folder.file('sgw.db.lock'))
  const second = await refusedStart({ DATABASE_URL: folder.database })
  expect(second).toMatchObject({ code: 75, stderr: expect.stringContaining(`(pid ${server.child.pid})`) })

  linkSync(path, other.file('hard.db'))
  const linked = await refusedStart({ DATABASE_URL: `file:${other.file('hard.db')}` })
  expect(linked).toMatchObject({ code: 73, stderr: expect.stringContaining('has 2 names (hard links)') })
  rmSync(other.file('hard.db'))
  expect((await send(server.url, keyIn(folder), 'x')).status).toBe(202)
}, 60_000)

test.concurrent('a link to a database that does not exist yet creates it where the link leads', async () => {
  using folder = temporaryFolder()
  using other = temporaryFolder()
  symlinkSync(folder.file('sgw.db'), other.file('sgw.db'))
  await sgw(['tenant', 'create', '--name', 'Acme'], { DATABASE_URL: other.database })
  expect(readdirSync(other.path)).toEqual(['sgw.db'])
  expect(readdirSync(folder.path)).toContain('sgw.db.mark')
})

test.concurrent('a database that was copied in for everybody to read is readable for this user alone after the start', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database }
  await sgw(['tenant', 'create', '--name', 'Acme'], env)
  chmodSync(folder.file('sgw.db'), 0o644)
  await using _server = await startServer(env)
  for (const name of ['sgw.db', 'sgw.db-wal', 'sgw.db-shm'])
    expect([name, statSync(folder.file(name)).mode & 0o777]).toEqual([name, 0o600])
})

for (const [name, deny] of Object.entries({
  'whose file': (folder: Folder) => chmodSync(folder.file('sgw.db'), 0o400),
  'whose log': (folder: Folder) => {
    const log = folder.file('sgw.db-wal')
    if (!existsSync(log)) writeFileSync(log, '')
    chmodSync(log, 0o400)
  },
}))
  test.concurrent(`a database ${name} this user cannot write ends the start with 73, and the doctor and commands say why`, async () => {
    using folder = temporaryFolder()
    await sgw(['tenant', 'create', '--name', 'Acme'], { DATABASE_URL: folder.database })
    deny(folder)
    const env = { HOME: folder.path, DATABASE_URL: folder.database, PORT: '0' }
    const { code, stderr } = await runUnprivileged(['src/main.ts'], env)
    expect({ code, stderr }).toEqual({ code: 73, stderr: expect.stringMatching(/^Cannot read and write .*chown.*\n$/) })
    const doctor = await runUnprivileged(['src/cli.ts', 'doctor'], env)
    expect(doctor.code).toBe(1)
    expect(doctor.stdout).toMatch(/^✗ database +Cannot read and write .*chown/m)
    const created = await runUnprivileged(['src/cli.ts', 'tenant', 'create', '--name', 'Acme'], env)
    expect(created).toMatchObject({ code: 1, stdout: '', stderr })
  }, 60_000)

test.concurrent('a copy over the running database is found by the doctor', async () => {
  using folder = temporaryFolder()
  const env = { DATABASE_URL: folder.database, ...LIMITS }
  // Pages that are still in the log would hide the copy.
  await sgw(['tenant', 'create', '--name', 'Acme'], env)
  await using server = await startServer(env)
  await server.printed(/limit=1/)
  const path = folder.file('sgw.db')
  for (let number = 0; number < 20; number++) await send(server.url, keyIn(folder), `before ${number}`)
  const copy = await sgw(['backup', folder.file('copy.db')], env)
  expect(copy.code).toBe(0)
  expect((await sgw(['doctor'], env)).stdout).toMatch(/^✓ database/m)
  writeFileSync(folder.file('copy.db'), 'no database at all '.repeat(9000))
  copyFileSync(folder.file('copy.db'), path)
  const doctor = await sgw(['doctor'], env)
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toMatch(/^✗ database/m)
}, 60_000)
