import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { sgw, startProgram, temporaryFolder } from '../support/process.ts'
import type { Finished } from '../support/program.ts'
import { createWorld, recordedLog } from '../support/world.ts'

interface Finding {
  check: string
  ok: boolean
  level: string
  detail: string
}

type Folder = ReturnType<typeof temporaryFolder>

const PAGE = 4096

/** Creates the database of a stopped gateway, in one file. */
async function intactDatabase(folder: Folder): Promise<string> {
  await sgw(['tenant', 'create', '--name', 'Acme'], { DATABASE_URL: folder.database })
  return folder.file('sgw.db')
}

/** Overwrites pages from the second one on. With its first page, the file still looks like a database. */
function overwritePages(path: string): void {
  const bytes = readFileSync(path)
  bytes.fill(0x5a, PAGE)
  writeFileSync(path, bytes)
}

const DAMAGES: Record<string, (path: string) => void> = {
  'other contents': (path) => writeFileSync(path, 'This is a letter, and no database.\n'.repeat(500)),
  'all pages but the first overwritten': overwritePages,
  'cut off': (path) => truncateSync(path, 3 * PAGE),
}

const startServer = async (folder: Folder): Promise<Finished> => {
  await using program = startProgram('src/main.ts', [], { DATABASE_URL: folder.database, PORT: '0' })
  return await program.ended()
}

for (const [name, damage] of Object.entries(DAMAGES)) {
  test.concurrent(`a database with ${name} ends a start with 73 and one sentence; the doctor reports it, and nothing is changed`, async () => {
    using folder = temporaryFolder()
    const path = await intactDatabase(folder)
    damage(path)
    const before = readFileSync(path)
    const { code, stderr } = await startServer(folder)
    expect({ code, stderr }).toEqual({ code: 73, stderr: expect.stringMatching(/^[^\n]+\n$/) })
    expect(stderr).toMatch(/^The database .*sgw\.db is damaged \(SQLITE_(CORRUPT|NOTADB)\w*\): .*docs\/runbooks\.md$/m)
    const doctor = await sgw(['doctor', '--json'], { DATABASE_URL: folder.database })
    expect({ code: doctor.code, stderr: doctor.stderr }).toEqual({ code: 1, stderr: '' })
    const findings = JSON.parse(doctor.stdout) as Finding[]
    const failed = findings.filter(({ ok }) => !ok)
    expect(failed.map(({ check }) => check)).toEqual(['database'])
    expect(failed[0]?.detail).toContain('docs/runbooks.md')
    expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(['disk', 'provider', 'public address']))
    const status = await sgw(['status'], { DATABASE_URL: folder.database })
    expect(status).toMatchObject({ code: 1, stdout: '', stderr })
    expect(readFileSync(path).equals(before)).toBe(true)
  })
}

const BROKEN: Record<string, [prepare: (folder: Folder) => void, detail: string]> = {
  'a folder': [
    ({ file }) => {
      rmSync(file('sgw.db'))
      mkdirSync(file('sgw.db'))
    },
    'is a folder',
  ],
  newer: [
    ({ file }) => {
      using database = new Database(file('sgw.db'))
      database.run("INSERT INTO schema_migrations VALUES (99, '0099_future', 'hash')")
    },
    'newer than this program',
  ],
  'without its tables': [
    ({ file }) => {
      using database = new Database(file('sgw.db'))
      database.run('PRAGMA foreign_keys = OFF')
      database.run('DROP TABLE facts')
    },
    'Cannot mark the database',
  ],
}

for (const [name, [prepare, detail]] of Object.entries(BROKEN)) {
  test.concurrent(`the doctor reports a database that is ${name}`, async () => {
    using folder = temporaryFolder()
    await intactDatabase(folder)
    prepare(folder)
    const { code, stdout, stderr } = await sgw(['doctor', '--json'], { DATABASE_URL: folder.database })
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    const failed = (JSON.parse(stdout) as Finding[]).filter(({ ok }) => !ok)
    expect(failed).toMatchObject([{ check: 'database', level: 'fail', detail: expect.stringContaining(detail) }])
  })
}

test('the doctor works although the key file has no key', async () => {
  using folder = temporaryFolder()
  await intactDatabase(folder)
  writeFileSync(folder.file('encryption.key'), 'rubbish')
  const { code, stdout } = await sgw(['doctor'], { DATABASE_URL: folder.database })
  expect(code).toBe(1)
  expect(stdout).toMatch(/^✗ database +.*encryption\.key contains no key/m)
  expect(stdout).toMatch(/^! server +no server answers for \/.*sgw\.db: sgw start starts one$/m)
  expect(stdout).toMatch(/^✓ disk /m)
})

test('damage to the file of a running gateway is logged once and stays reported', async () => {
  const { log, lines } = recordedLog()
  await using world = await createWorld({ log, connect: false, env: { ADMIN_PORT: '0' } })
  const damaged = Object.assign(new Error('database disk image is malformed'), { code: 'SQLITE_CORRUPT' })
  const { storage } = world.gateway.database
  storage?.failed(damaged.code)
  await world.send().catch(() => null)
  expect((await fetch(`${world.running.adminUrl}/ready`)).status).toBe(503)
  expect(lines.filter((line) => line.includes('is damaged'))).toHaveLength(1)
  expect(lines.join('')).not.toContain('works again')
})
