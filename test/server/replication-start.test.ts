import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { readConfig } from '../../src/core/config.ts'
import { silentLog } from '../../src/core/log.ts'
import { StartError } from '../../src/core/start-error.ts'
import { runGateway } from '../../src/server/run.ts'
import { HeldGrant } from '../support/held-grant.ts'
import { HeldReplica } from '../support/held-replica.ts'
import { temporaryFolder } from '../support/process.ts'

interface Seen {
  migrations: number
  incarnations: number
  mark: boolean
}

function lookAt(path: string): Seen {
  using database = new Database(path, { readonly: true })
  const count = (sql: string): number => database.query<{ n: number }, []>(sql).get()?.n ?? 0
  return {
    migrations: count('SELECT count(*) AS n FROM schema_migrations'),
    incarnations: count(`SELECT count(*) AS n FROM facts WHERE name = 'incarnation'`),
    mark: existsSync(`${path}.mark`),
  }
}

test('the replication starts when the database is migrated, before the start writes anything else', async () => {
  using folder = temporaryFolder()
  const values = { NODE_ENV: 'test', PORT: '0', DATABASE_URL: folder.database }
  const config = readConfig({ values, readFile: () => '' })
  if (!config.ok) throw new Error(config.problems.join('\n'))
  const seen: Seen[] = []
  const running = await runGateway({
    config: config.config,
    log: silentLog,
    replicate: async () => void seen.push(lookAt(folder.file('sgw.db'))),
  })
  seen.push(lookAt(folder.file('sgw.db')))
  await running.stop()
  const migrations = seen[0]?.migrations ?? 0
  expect(migrations).toBeGreaterThan(0)
  expect(seen).toEqual([
    { migrations, incarnations: 0, mark: false },
    { migrations, incarnations: 1, mark: true },
  ])
})

test('a start under a lease waits for two uploads after its first copy: the note of its epoch, and all that it recovers', async () => {
  using folder = temporaryFolder()
  const values = { NODE_ENV: 'test', PORT: '0', DATABASE_URL: folder.database }
  const config = readConfig({ values, readFile: () => '' })
  if (!config.ok) throw new Error(config.problems.join('\n'))
  const uploads: number[] = []
  for (const epoch of [1, 2]) {
    const replica = new HeldReplica()
    const lease = Object.assign(new HeldGrant(), { epoch })
    const running = await runGateway({ config: config.config, log: silentLog, replica, lease })
    uploads.push(replica.asked)
    await running.stop()
  }
  // The first one stores its incarnation as well.
  expect(uploads).toEqual([3, 2])
})

test.each(['with', 'without'])(
  'a first start %s a lease whose replica stores nothing names the storage, and not the disk or the mark',
  async (lease) => {
    using folder = temporaryFolder()
    const values = { NODE_ENV: 'test', PORT: '0', DATABASE_URL: folder.database }
    const config = readConfig({ values, readFile: () => '' })
    if (!config.ok) throw new Error(config.problems.join('\n'))
    const replica = new HeldReplica()
    replica.failure = 'Litestream does not answer'
    const held = lease === 'with' ? { lease: new HeldGrant() } : {}
    const failure = await runGateway({ config: config.config, log: silentLog, replica, ...held }).catch(
      (error: unknown) => error,
    )
    expect(failure).toEqual(
      new StartError(
        69,
        'The replica does not store what is committed (Litestream does not answer): check the storage, its credentials and the network, then start again',
      ),
    )
    expect(failure).toMatchObject({ exitCode: 69 })
  },
)
