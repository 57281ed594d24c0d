import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'libsql'
import type { Row } from './row.ts'
import { median } from './support/alternate.ts'
import { runLoad } from './support/load.ts'
import { compacted, seed } from './support/seeded-stage.ts'
import { Stage } from './torture/stage.ts'

const FEW = 1000
const MANY = 1_000_000
const CONNECTIONS = 64
const DURATION_MS = 4000
const ROUNDS = 3

/** What accepting costs when the database is nearly empty and when it has a million messages, and how much it writes. */
async function benchGrowth(): Promise<Row[]> {
  await using stage = await Stage.open({ extensions: 1, numbersPerExtension: 1, env: { PROVIDER_TIMEOUT: '15s' } })
  await stage.control.setLimits({ enabled: false })
  const naive = { few: naiveBytes(64, FEW), many: naiveBytes(64, MANY), small: naiveBytes(8, FEW) }
  await seed(stage, FEW, 1)
  const few = await accepting(stage)
  await seed(stage, MANY, 0.22, FEW)
  // What an upgrade does once is no part of what a message costs.
  await compacted(stage)
  const many = await accepting(stage)
  const row = (name: string, { rate, bytes }: Accepting, naiveOne: number): Row => ({
    case: name,
    'accepted/s': Math.round(rate),
    'bytes written a message': Math.round(bytes),
    'naive schema with six indexes': Math.round(naiveOne),
    'of naive': (bytes / naiveOne).toFixed(2),
  })
  return [
    row(`${FEW} messages`, few, naive.few),
    row(`${MANY} messages`, many, naive.many),
    { case: 'ratio', 'accepted/s': (many.rate / few.rate).toFixed(2), 'bar → aim': '0.8; bytes 0.7 → 0.38 of naive' },
    { case: `naive with 8 messages a commit instead of 64`, 'naive schema with six indexes': Math.round(naive.small) },
  ]
}

export default { name: 'growth', run: benchGrowth }

interface Accepting {
  rate: number
  /** From accepting to `sent`, with what checkpoints write. */
  bytes: number
}

async function accepting(stage: Stage): Promise<Accepting> {
  const rates: number[] = []
  const before = writtenBytes(stage.gateway.pid)
  let accepted = 0
  const request = (n: number): string => {
    accepted++
    return sendRequest(stage, n)
  }
  for (let round = 0; round < ROUNDS; round++) {
    const { requestsPerSecond } = await runLoad({
      hostname: '127.0.0.1',
      port: stage.gateway.options.port,
      connections: CONNECTIONS,
      durationMs: DURATION_MS,
      request,
    })
    rates.push(requestsPerSecond)
    await stage.drained()
  }
  return { rate: median(rates), bytes: (writtenBytes(stage.gateway.pid) - before) / accepted }
}

function sendRequest({ key, numbers }: Stage, n: number): string {
  const text = `Hello number ${n}, this is a message of an ordinary length, as people send them every day.`
  const to = `+1555777${String(n % 50_000).padStart(5, '0')}`
  const body = JSON.stringify({ to, from: numbers[0], body: text, userId: `user-${n % 5000}` })
  return `POST /v1/sms/send HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Linux only; elsewhere 0. */
function writtenBytes(pid: number | 'self' | null): number {
  try {
    const { stdout } = Bun.spawnSync(['cat', `/proc/${pid === 'self' ? process.pid : String(pid)}/io`])
    return Number(/^write_bytes: (\d+)/m.exec(stdout.toString())?.[1] ?? 0)
  } catch {
    return 0
  }
}

const TEXT = 'Hello, this is a message of an ordinary length, as people send them every day and all day long.'
const NAIVE_COLUMNS = ['tenant_id', 'app_id', 'user_id', 'from_number', 'to_number', 'status']
const NAIVE_MESSAGES = 40_000

/** The schema that one writes first: a random text key, six indexes, and a row touched three times. In a table of `rows` already. */
function naiveBytes(perCommit: number, rows: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-naive-'))
  try {
    const database = new Database(join(folder, 'naive.db'))
    for (const pragma of ['journal_mode = WAL', 'synchronous = FULL']) database.exec(`PRAGMA ${pragma}`)
    database.exec(
      `CREATE TABLE messages (id TEXT PRIMARY KEY, ${NAIVE_COLUMNS.join(' TEXT, ')} TEXT, body TEXT, created_at INTEGER)`,
    )
    for (const column of NAIVE_COLUMNS) database.exec(`CREATE INDEX by_${column} ON messages (${column}, created_at)`)
    database.exec(naiveSeed(rows))
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const before = writtenBytes('self')
    for (let from = 0; from < NAIVE_MESSAGES; from += perCommit) naiveCommits(database, from, perCommit)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    database.close()
    return (writtenBytes('self') - before) / NAIVE_MESSAGES
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Spread like the gateway's own. */
const naiveSeed = (
  rows: number,
): string => `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${rows})
  INSERT INTO messages SELECT lower(hex(randomblob(16))), 'tenant', 'app', 'user-' || (n % 5000), '+15555550' || (100 + n % 50),
    '+1555777' || printf('%05d', n * 40503 % 50000), 'sent', '${TEXT}', n FROM numbers`

/** Accepted, sending, sent: three commits for some messages. */
function naiveCommits(database: Database.Database, from: number, count: number): void {
  const ids = Array.from({ length: count }, (_, n) => ({ id: crypto.randomUUID(), n: from + n }))
  const insert = database.prepare(
    `INSERT INTO messages VALUES (?, 'tenant', 'app', ?, '+15555550100', ?, 'queued', ?, ?)`,
  )
  const update = database.prepare('UPDATE messages SET status = ? WHERE id = ?')
  const commit = (change: (one: { id: string; n: number }) => unknown): void => {
    database.exec('BEGIN IMMEDIATE')
    for (const one of ids) change(one)
    database.exec('COMMIT')
  }
  commit(({ id, n }) => insert.run([id, `user-${n % 5000}`, `+1555777${n % 50_000}`, TEXT, Date.now()]))
  commit(({ id }) => update.run(['sending', id]))
  commit(({ id }) => update.run(['sent', id]))
}
