import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { sgw, startProgram, startServer, temporaryFolder } from '../support/process.ts'
import { until } from '../support/world.ts'

// Somebody overwrites, replaces or cuts the files of a running gateway. Each test then does what the texts say, word by word.

type Folder = ReturnType<typeof temporaryFolder>

const envOf = (folder: Folder) => ({ DATABASE_URL: folder.database, KEY_LIMIT_PER_MINUTE: '100000' })

const keyIn = (folder: Folder): string => readFileSync(folder.file('development-api-key'), 'utf8').trim()

const send = (url: string, key: string, body: string): Promise<Response> =>
  fetch(`${url}/v1/sms/send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ from: '+15555550100', to: '+15555550199', body }),
  })

async function textsOf(url: string, key: string): Promise<string[]> {
  const answer = await fetch(`${url}/v1/sms/messages?limit=100`, { headers: { authorization: `Bearer ${key}` } })
  return ((await answer.json()) as { messages: { body: string }[] }).messages.map(({ body }) => body)
}

async function startReady(folder: Folder) {
  const server = await startServer(envOf(folder))
  await server.printed(/limit=1/)
  await until(() => existsSync(folder.file('sgw.db.sock')))
  return server
}

async function terminate(
  server: Awaited<ReturnType<typeof startReady>>,
): Promise<{ code: number | null; output: string }> {
  server.kill('SIGTERM')
  const { code, stdout, stderr } = await server.ended()
  return { code, output: stdout + stderr }
}

async function sendSome(url: string, key: string, count: number, accepted: string[]): Promise<void> {
  for (let time = 0; time < count; time++) {
    const text = `text ${accepted.length}`
    expect((await send(url, key, text)).status).toBe(202)
    accepted.push(text)
  }
}

/** Starts a gateway whose file and log both have messages, beside an older copy. */
async function prepare(folder: Folder, accepted: string[], mode: 'TRUNCATE' | 'PASSIVE' = 'TRUNCATE') {
  const server = await startReady(folder)
  for (let time = 0; time < 2; time++) {
    await sendSome(server.url, keyIn(folder), 10, accepted)
    checkpoint(folder, mode)
    if (time === 0) copyFileSync(folder.file('sgw.db'), folder.file('older.db'))
  }
  await sendSome(server.url, keyIn(folder), 10, accepted)
  return server
}

function checkpoint(folder: Folder, mode: 'TRUNCATE' | 'PASSIVE'): void {
  using database = new Database(folder.file('sgw.db'))
  database.run('PRAGMA busy_timeout = 5000')
  database.run(`PRAGMA wal_checkpoint(${mode})`)
}

/** Keeps sending until the gateway refuses. */
async function sendUntilRefused(url: string, key: string, accepted: string[]): Promise<void> {
  await until(async () => {
    const text = `text ${accepted.length}`
    const answer = await send(url, key, text)
    if (answer.status !== 202) {
      expect([answer.status, await answer.json()]).toEqual([503, { error: 'Storage unavailable' }])
      return true
    }
    accepted.push(text)
    await Bun.sleep(100)
  }, 60_000)
}

const cutLog = (folder: Folder, bytes: (size: number) => number): void =>
  truncateSync(folder.file('sgw.db-wal'), bytes(statSync(folder.file('sgw.db-wal')).size))

const ACCIDENTS: Record<string, (folder: Folder) => void> = {
  'an older copy copied over it': (folder) => copyFileSync(folder.file('older.db'), folder.file('sgw.db')),
  'an older copy moved over it': (folder) => renameSync(folder.file('older.db'), folder.file('sgw.db')),
  'its log emptied': (folder) => cutLog(folder, () => 0),
  'its log cut in the middle': (folder) => cutLog(folder, (size) => size / 2),
  'its log and its file deleted': (folder) => ['', '-wal'].forEach((suffix) => rmSync(folder.file(`sgw.db${suffix}`))),
}

/**
 * What is copied over can be saved only from the gateway's memory. A checkpoint that blocks writers can make the gateway open a new
 * connection, which has nothing in memory.
 */
const modeFor = (what: string): 'TRUNCATE' | 'PASSIVE' =>
  what === 'an older copy copied over it' ? 'PASSIVE' : 'TRUNCATE'

async function expectAll(folder: Folder, accepted: readonly string[]): Promise<void> {
  await using server = await startReady(folder)
  const stored = await textsOf(server.url, keyIn(folder))
  expect(accepted.filter((text) => !stored.includes(text))).toEqual([])
  // The message whose refusal showed the accident may be stored: its commit did.
  expect(stored.length).toBeLessThanOrEqual(accepted.length + 1)
  expect((await send(server.url, keyIn(folder), 'afterwards')).status).toBe(202)
  expect((await terminate(server)).code).toBe(0)
}

for (const what of ['an older copy copied over it', 'an older copy moved over it', 'its log cut in the middle'])
  test(`${what}: sgw backup FILE, put in its place, starts with every accepted message`, async () => {
    using folder = temporaryFolder()
    const accepted: string[] = []
    {
      await using server = await prepare(folder, accepted, modeFor(what))
      ACCIDENTS[what]?.(folder)
      await sendUntilRefused(server.url, keyIn(folder), accepted)
      const doctor = await sgw(['doctor'], envOf(folder))
      expect(doctor.code).toBe(1)
      expect(doctor.stdout).toMatch(/^✗ database .*Do not stop the gateway .*: sgw backup FILE; then stop/m)
      const saved = await sgw(['backup', folder.file('FILE')], envOf(folder))
      expect(saved).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/^The copy does not contain the encryption key: .*\n$/),
      })
      expect((await terminate(server)).code).toBe(0)
    }
    renameSync(folder.file('FILE'), folder.file('sgw.db'))
    for (const suffix of ['-wal', '-shm']) rmSync(folder.file(`sgw.db${suffix}`), { force: true })
    await expectAll(folder, accepted)
    // What the stop has saved besides is no reason to refuse a later start.
    await expectAll(folder, [...accepted, 'afterwards'])
  }, 120_000)

for (const [what, happen] of Object.entries(ACCIDENTS))
  test(`${what}: after a stop without a backup each start is refused until the saved copy is moved`, async () => {
    using folder = temporaryFolder()
    const accepted: string[] = []
    {
      await using server = await prepare(folder, accepted, modeFor(what))
      happen(folder)
      await sendUntilRefused(server.url, keyIn(folder), accepted)
      const { code, output } = await terminate(server)
      expect(code).toBe(0)
      expect(output).toContain('its data was saved in this file')
    }
    for (let time = 0; time < 2; time++) {
      await using program = startProgram('src/main.ts', [], { PORT: '0', ...envOf(folder) })
      const { code, stderr } = await program.ended()
      expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringMatching(/^[^\n]+\n$/) })
      expect((await sgw(['tenant', 'list'], envOf(folder))).code).toBe(1)
      if (time === 0) continue
      const [, saved = ''] = /(\S+\.saved-\d+)/.exec(stderr) ?? []
      for (const [, old = ''] of stderr.matchAll(/remove (\S+)-wal and \S+-shm/g))
        for (const suffix of ['-wal', '-shm']) rmSync(`${old}${suffix}`, { force: true })
      expect(stderr).toMatch(/move \S+ to \S+sgw\.db,|move that file to \S+sgw\.db,/)
      renameSync(saved, folder.file('sgw.db'))
    }
    await expectAll(folder, accepted)
    expect(readdirSync(folder.path).filter((name) => name.startsWith('sgw.db.saved-'))).toEqual([])
  }, 120_000)

test('what is in no memory any more cannot be saved: every text says so, and the restored copy starts as a restored one', async () => {
  using folder = temporaryFolder()
  const accepted: string[] = []
  {
    await using first = await prepare(folder, accepted)
    expect((await terminate(first)).code).toBe(0)
  }
  await using server = await startReady(folder)
  await sendSome(server.url, keyIn(folder), 10, accepted)
  writeFileSync(folder.file('sgw.db'), 'no database '.repeat(40_000))
  await sendUntilRefused(server.url, keyIn(folder), accepted)
  const backup = await sgw(['backup', folder.file('FILE')], envOf(folder))
  expect(backup).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('docs/runbooks.md') })
  const { code, output } = await terminate(server)
  expect(code).toBe(0)
  expect(output).toMatch(/overwritten while the gateway has it open/)
  expect(output).toContain('could not be saved: restore the backup (docs/runbooks.md)')
  {
    await using program = startProgram('src/main.ts', [], { PORT: '0', ...envOf(folder) })
    expect((await program.ended()).code).toBe(73)
  }
  for (const suffix of ['-wal', '-shm']) rmSync(folder.file(`sgw.db${suffix}`), { force: true })
  renameSync(folder.file('older.db'), folder.file('sgw.db'))
  await using restored = await startReady(folder)
  expect(restored.stdout).toContain('this database was restored from a backup')
  expect(await textsOf(restored.url, keyIn(folder))).toHaveLength(10)
}, 120_000)

test('after a copy was moved over it and kill -9, its log is not written into the copy: the start is refused until it is removed', async () => {
  using folder = temporaryFolder()
  const accepted: string[] = []
  {
    await using server = await prepare(folder, accepted)
    renameSync(folder.file('older.db'), folder.file('sgw.db'))
    server.kill('SIGKILL')
    await server.ended()
  }
  {
    await using program = startProgram('src/main.ts', [], { PORT: '0', ...envOf(folder) })
    const { code, stderr } = await program.ended()
    expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringMatching(/^\S+ was replaced [^\n]+\n$/) })
    expect(stderr).toContain(`remove ${folder.file('sgw.db-wal')} and ${folder.file('sgw.db-shm')}`)
  }
  for (const suffix of ['-wal', '-shm']) rmSync(folder.file(`sgw.db${suffix}`), { force: true })
  await using restored = await startReady(folder)
  expect(restored.stdout).toContain('this database was restored from a backup')
  expect(await textsOf(restored.url, keyIn(folder))).toHaveLength(10)
}, 120_000)
