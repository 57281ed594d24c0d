import { expect, test } from 'bun:test'
import { type Database, openDatabase } from '../../src/db/database.ts'
import type { Row } from '../../src/db/connection.ts'
import { ACCEPT, ACCEPT_ONCE } from '../../src/features/sms/accept-rows.ts'
import { STORE } from '../../src/features/webhooks/store-inbound.ts'
import { seededRandom } from '../../src/simulator/random.ts'

const SEED = Number(process.env['JOBS_SEED'] ?? Math.floor(Math.random() * 1e9))
const COMMITS = 40
const MOST_UNITS = 150
const KEYS = 40
const EVENTS = 60

/** Who wants inbound messages: two of one tenant's apps and its trigger, nobody of the suspended one. */
const TARGETS: Readonly<Record<string, readonly string[]>> = {
  lone: [],
  many: ['app_many_0', 'app_many_1', 'trg_many'],
  suspended: [],
}

interface Asked {
  kind: 'ACCEPT' | 'ACCEPT_ONCE' | 'STORE'
  jobId: string
  messageId: string
  tenantId: string
  from: string
  rows: Row[]
}

test(`each message that is stored has exactly its jobs, whatever else is in its commit, seed ${SEED}`, async () => {
  const random = seededRandom(SEED)
  const database = await openDatabase({ url: ':memory:', authToken: null, path: null, litestream: false })
  await populate(database)
  for (let commit = 0; commit < COMMITS; commit++) {
    if (random() < 0.3) await database.gate.execute(DELETE_NEWEST)
    const last = await database.gate.execute('SELECT coalesce(max(seq), 0) AS seq FROM jobs')
    const units = 1 + Math.floor(random() * random() * MOST_UNITS)
    const asked = await Promise.all(
      Array.from({ length: units }, (_, unit) => ask(database, random, commit * MOST_UNITS + unit)),
    )
    const { rows } = await database.gate.execute({
      sql: 'SELECT * FROM jobs WHERE seq > ?1',
      args: [Number(last.rows[0]?.['seq'])],
    })
    const found = asked.map(({ jobId }) => rows.filter((job) => job['id'] === jobId).map(seen))
    expect(found).toEqual(asked.map(expectedJobs))
    expect(rows).toHaveLength(found.flat().length)
  }
  await database.close()
})

/** One unit; the same keys and provider ids come again and again, within a commit too. */
async function ask({ writer }: Database, random: () => number, number: number): Promise<Asked> {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const kind = pick(['ACCEPT', 'ACCEPT_ONCE', 'STORE'] as const)
  const own = { jobId: `job_${number}`, messageId: `msg_${number}`, tenantId: pick(Object.keys(TARGETS)) }
  const text = { from: `+1${Math.floor(random() * 3)}`, to: '+2', body: 'Hello', now: 1000 + number }
  const event = Math.floor(random() * EVENTS)
  const key = Math.floor(random() * KEYS)
  const sent = {
    ...own,
    ...text,
    appId: `app_${own.tenantId}_0`,
    userId: null,
    runAt: 0,
    idempotencyKey: `key ${key}`,
    requestHash: 'hash',
    expiredBefore: 0,
  }
  const rows =
    kind === 'STORE'
      ? await writer.row(STORE, { ...own, ...text, extensionId: 'e', rcMessageId: `rc ${event}`, tombstones: '[]' })
      : await writer.row(kind === 'ACCEPT' ? ACCEPT : ACCEPT_ONCE, sent)
  return { kind, ...own, from: text.from, rows }
}

/** By what the operation has answered: a request that came before, and an event that is known, have none. */
function expectedJobs({ kind, messageId, tenantId, from, rows }: Asked): string[] {
  const sends = `send ${from} ${messageId} ${tenantId}`
  if (kind === 'ACCEPT') return [sends]
  if (kind === 'ACCEPT_ONCE') return rows.at(-1)?.['message_id'] === messageId ? [sends] : []
  if (rows.length === 0) return []
  expect(rows.slice(1).map((row) => row['lane'])).toEqual([...(TARGETS[tenantId] ?? [])])
  return (TARGETS[tenantId] ?? []).map((target) => `webhook ${target} ${messageId}:${target} ${tenantId}`)
}

const seen = (job: Row): string => ['kind', 'lane', 'subject', 'tenant_id'].map((name) => String(job[name])).join(' ')

const DELETE_NEWEST = 'DELETE FROM messages WHERE seq > (SELECT max(seq) FROM messages) - 3'

async function populate({ gate }: Database): Promise<void> {
  const app = (tenant: string, number: number, url: string | null, isActive = 1): string =>
    `INSERT INTO apps (id, tenant_id, name, webhook_url, role, is_active, key_hash, key_prefix, webhook_secret, created_at, updated_at)
      VALUES ('app_${tenant}_${number}', '${tenant}', 'App', ${url === null ? 'NULL' : `'${url}'`}, 'app', ${isActive}, '${tenant} ${number}', 'p', 's', 0, 0)`
  await gate.batch([
    ...Object.keys(TARGETS).map(
      (tenant) =>
        `INSERT INTO tenants VALUES ('${tenant}', 'Tenant', '${tenant === 'suspended' ? 'suspended' : 'active'}', 0, 0)`,
    ),
    app('lone', 0, null),
    app('many', 0, 'http://a/'),
    app('many', 1, 'http://b/'),
    app('many', 2, null),
    app('many', 3, 'http://d/', 0),
    app('suspended', 0, 'http://e/'),
    `INSERT INTO triggers (id, tenant_id, callback_url, secret, created_at) VALUES ('trg_many', 'many', 'http://c/', 's', 0)`,
  ])
}
