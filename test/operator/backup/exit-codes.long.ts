import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { closeSync, copyFileSync, openSync, renameSync, writeSync } from 'node:fs'
import { Deployment } from '../../support/deployment.ts'

// A supervisor acts on these exit codes. They come through the entry point, with the real Litestream.

let deployment: Deployment

/** Before each problem, the database exists and Litestream has replicated it. */
beforeAll(async () => {
  deployment = await Deployment.create()
  await deployment.start()
  await deployment.stop()
}, 30_000)

afterAll(() => deployment[Symbol.asyncDispose]())

/** Litestream logs a line as soon as it starts. */
const STARTED = /litestream.*version/

test('a bad configuration ends with 78, before Litestream starts', async () => {
  const { code, stdout, stderr } = await deployment.enter({ RC_SERVER_URL: 'ftp://provider' })
  expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringMatching(/^RC_SERVER_URL is "ftp:.*\n$/) })
  expect(stdout).not.toMatch(STARTED)
})

test('invalid backup settings end with 78, although the database exists', async () => {
  const { code, stdout, stderr } = await deployment.enter({ LITESTREAM_ENDPOINT: 'storage.example:9000' })
  const fix = 'LITESTREAM_ENDPOINT is "storage.example:9000": give a complete address, for example https://HOST\n'
  expect({ code, stderr }).toEqual({ code: 78, stderr: fix })
  expect(stdout).not.toMatch(STARTED)
})

test('the entry point of an earlier release, which starts Litestream itself, is refused with 78', async () => {
  const { code, stdout, stderr } = await deployment.enter({ LITESTREAM_DATABASE: deployment.database })
  expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining('install the entry point') })
  expect(stdout).not.toMatch(STARTED)
})

test('a database of a newer version ends with 78, before Litestream starts', async () => {
  using database = new Database(deployment.database)
  database.run(`INSERT INTO schema_migrations (position, name, hash) VALUES (9999, 'from_the_future', '')`)
  const { code, stdout, stderr } = await deployment.enter({})
  database.run('DELETE FROM schema_migrations WHERE position = 9999')
  expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining('newer than this program') })
  expect(stdout).not.toMatch(STARTED)
})

test('a damaged database ends with 73 before Litestream, which would copy all of it, starts: the backup stays good', async () => {
  const intact = `${deployment.database}.intact`
  const root = emptyLog(deployment.database)
  copyFileSync(deployment.database, intact)
  overwritePage(deployment.database, root)
  const { code, stdout, stderr } = await deployment.enter({})
  const drill = await deployment.command<{ ok: boolean }>('restore', '--check')
  renameSync(intact, deployment.database)
  expect({ code, stderr }).toEqual({ code: 73, stderr: expect.stringMatching(/ is damaged \(SQLITE_CORRUPT\): .*\n$/) })
  expect(stdout).not.toMatch(STARTED)
  expect(drill.ok).toBe(true)
})

/** Empties the log, as a command without a server does. Returns the page of an index that no start reads. */
function emptyLog(path: string): number {
  using database = new Database(path)
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const index = `SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = 'opt_outs' AND sql IS NOT NULL`
  return database.query<{ rootpage: number }, []>(index).get()?.rootpage ?? 0
}

const PAGE = 4096

function overwritePage(path: string, page: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(PAGE, 0x5a), 0, PAGE, (page - 1) * PAGE)
  closeSync(file)
}

test('a port in use ends with 69, and Litestream ends before the gateway', async () => {
  const holder = Bun.listen({ hostname: '127.0.0.1', port: deployment.port, socket: { data() {} } })
  const { code, stdout, stderr } = await deployment.enter({})
  holder.stop(true)
  expect({ code, stderr }).toEqual({ code: 69, stderr: expect.stringContaining(String(deployment.port)) })
  expect(stdout).toContain('litestream shut down')
})

test('a missing Litestream ends with 69 and says what to do', async () => {
  const { code, stderr } = await deployment.enter({ LITESTREAM_COMMAND: '/nowhere/litestream' })
  expect({ code, stderr }).toEqual({ code: 69, stderr: expect.stringContaining('install Litestream') })
})

test('the gateway ends with 69 if Litestream ends by itself', async () => {
  const { code, stdout } = await deployment.enter({ LITESTREAM_CONFIG: '/nowhere/litestream.yml' })
  expect(code).toBe(69)
  expect(stdout).toContain('Litestream is gone')
})

test('a database that another process holds ends with 75 after 30 s', async () => {
  const holder = new Database(`${deployment.database}.lock`, { create: true })
  holder.run('BEGIN EXCLUSIVE')
  const { code, stdout, stderr } = await deployment.enter({}, 40)
  holder.close()
  expect({ code, stderr }).toEqual({ code: 75, stderr: expect.stringContaining('stop it first') })
  expect(stdout).not.toMatch(STARTED)
}, 60_000)
