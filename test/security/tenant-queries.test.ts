import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type Query, drizzleQueries, sqlStatements, tenantTables, unboundTables } from './sql-in-source.ts'

// Every statement on a tenant's rows names the tenant. This file lists the exceptions with their reasons.

/** Code that no request reaches. The rules of test/architecture.test.ts keep endpoints and verbs from importing it. */
const OUT_OF_REACH: Readonly<Record<string, string>> = {
  'src/operator/': "the operator's commands act for all tenants; only the server's user can give them",
  'src/cli/': 'the command line counts the rows of a copy, of all tenants',
  'src/operator/metrics/': 'figures over all tenants, on the loopback listener',
  'src/operator/alerts/': "the operator's alerts, about all tenants",
  'src/messages/gateway-state/queue.ts': 'what waits, of all tenants, for the three above',
  'src/messages/gateway-state/extensions.ts': 'extensions of all tenants, for the same',
  'src/messages/gateway-state/database.ts': 'the size of the event log, for the same',
  'src/db/': 'what a restore quarantines, of all tenants, at the start',
  'src/auth/lost-keys.ts':
    'secrets of all tenants: whether ENCRYPTION_KEYS has their keys. The answer is for the operator',
  'src/server/greeting.ts': 'numbers of all tenants, for the person who starts the server',
  'src/messages/jobs/': 'job rows by their kind and `seq`, which the loop read itself',
}

/** Files that process rows of a job. They know no caller, so no request can pass them an id. */
const JOB_WORK: Readonly<Record<string, string>> = {
  'src/messages/receipts/state-rows.ts':
    'delivery states by the messages that its own queries found by tenant and extension, and which extensions have any',
  'src/messages/receipts/start-tracking.ts': 'sent messages of all tenants, from the event log, each under its own',
  'src/messages/upkeep/delete-messages.ts': 'rows of messages by their ids, for retention and erasure',
  'src/messages/upkeep/follow-conversations.ts': 'the newest messages of all tenants, each under its own',
  'src/messages/upkeep/purge-messages.ts': 'retention, for all tenants',
  'src/messages/sending/attempt-rows.ts': 'message, attempt and job of one attempt, which its job row led to',
  'src/messages/usage/roll-up.ts':
    'counts of the messages that the statement beside it changes, under their own tenant',
  'src/messages/sending/attempts.ts': 'the job by its `seq`',
  'src/messages/sending/expire.ts': 'send jobs of all tenants, oldest first',
  'src/messages/sending/uncertain-commits.ts': 'the attempt of one message, which its job row led to',
  'src/messages/sending/outbound-message.ts': 'messages by the ids that job rows carry',
  'src/messages/sending/quarantine.ts': 'one message, which its job row led to',
  'src/messages/sending/lookup-listing.ts':
    'a record of the provider belongs to one message of all tenants that have its number',
  'src/messages/sending/scheduled-messages.ts': 'schedule jobs whose time has come, of all tenants',
  'src/messages/sending/recover.ts': 'at the start: open attempts and rate windows of all tenants',
  'src/messages/webhooks/deliver.ts': 'the delivery and the job that this run opened itself',
  'src/messages/webhooks/delivery-counts.ts':
    "delivery ids of the caller's messages, from an index; their attempts are then read under the tenant",
  'src/messages/webhooks/delivery-rows.ts': 'the delivery and the job that this run opened itself',
  'src/messages/upkeep/purge-deliveries.ts': 'retention, for all tenants',
  'src/messages/webhooks/interrupted.ts': 'at the start: interrupted deliveries of all tenants',
  'src/messages/upkeep/purge-links.ts': 'links and states that have ended, of all tenants',
  'src/provider/socket-rows.ts':
    'the row of the socket of one extension, by its tenant and id (`keyOf`, `isOf`), and those of all that an earlier process left',
  'src/messages/upkeep/extensions.ts': 'which tenants have extensions, to look after each',
  'src/messages/opt-outs/consent-rows.ts':
    'consents of an account, which several tenants may share; each pair of number and contact under its own tenant',
  'src/messages/upkeep/consent-readings.ts': 'which accounts have active extensions, to read each account once',
}

/** Other single statements: file, beginning of the statement, reason. */
const STATEMENTS: readonly (readonly [path: string, beginning: string, why: string])[] = [
  [
    'src/messages/webhooks/never-arrived.ts',
    'SELECT * FROM ( SELECT tenant_id, target_id',
    'counts by tenant: an endpoint of a tenant adds it (`tenant_id = ?1`), that of all tenants groups by it',
  ],
  [
    'src/messages/realtime/webhook-waker.ts',
    'SELECT id, tenant_id FROM apps',
    'which apps asked for events, to wake their jobs',
  ],
  [
    'src/messages/inbound/webhook-job-rows.ts',
    "SELECT messages.job_id, 'webhook'",
    'the message that the statement before it stored in this very commit, by its own job id',
  ],
  ['src/messages/media/media-rows.ts', 'SELECT coalesce(sum(size), 0) AS used', 'the limit of all media together'],
  [
    'src/messages/media/media-rows.ts',
    'DELETE FROM media WHERE id IN (SELECT value',
    'media of erased messages that no message carries any more',
  ],
  [
    'src/messages/media/media-rows.ts',
    'DELETE FROM media WHERE id IN (SELECT media.id',
    'what is past its time, of all tenants',
  ],
  [
    'src/messages/realtime/logged-rows.ts',
    'SELECT events.seq',
    'events that go to the sockets of their own tenant and app; pages of the log add their tenant',
  ],
]

/** Single Drizzle queries: file, table, reason, and what the query contains if the file has others of that table. */
const DRIZZLE: readonly (readonly [path: string, table: string, why: string, containing?: string])[] = [
  ['src/auth/key-ring.ts', 'apps', 'the key is the credential: its row says which tenant it is for'],
  [
    'src/api/apps/credentials.ts',
    'wsTokens',
    'the app whose key is being replaced, which the statement before it named with its tenant',
  ],
  ['src/api/rc/oauth-state.ts', 'oauthStates', 'the state is the credential: its row says which tenant it is for'],
  [
    'src/auth/subscription-tokens.ts',
    'subscriptions',
    'the Verification-Token is the credential: its row says which tenant it is for',
  ],
  ['src/api/rc/connect.ts', 'connectTokens', 'the token is the credential: its row says which tenant it is for'],
  ['src/api/ws/authenticate.ts', 'wsTokens', 'the token is the credential: its row says which tenant it is for'],
  ['src/api/ws/issue-token.ts', 'wsTokens', 'tokens that have expired, of all tenants'],
  [
    'src/provider/extension-rows.ts',
    'extensions',
    'the provider limits an extension for all its tenants together',
    'pausedUntil',
  ],
  [
    'src/provider/directory.ts',
    'extensions',
    'the start reads the stored refusals of all extensions',
    'isNotNull(refusals)',
  ],
]

const tables = tenantTables()

const isExemptFile = (path: string): boolean =>
  Object.keys(OUT_OF_REACH).some((folder) => path.startsWith(folder)) || path in JOB_WORK

const isListed = ({ path, text }: Query): boolean =>
  isExemptFile(path) || STATEMENTS.some(([file, beginning]) => path === file && text.startsWith(beginning))

/** Whether a table is only known at run time. */
const isDynamic = (sql: string): boolean => /\b(FROM|JOIN|INTO|UPDATE) \$\{/.test(sql)

const isUnbound = ({ text }: Query): boolean =>
  unboundTables(text, tables.keys()).length > 0 || (isDynamic(text) && !text.includes('WHERE tenant_id = ?1'))

describe('every query names the tenant', () => {
  test('there are queries and tenant tables', () => {
    expect(tables.size).toBeGreaterThanOrEqual(12)
    expect(sqlStatements().length).toBeGreaterThan(100)
    expect(drizzleQueries().length).toBeGreaterThan(10)
  })

  test('an unbound table in a statement is found', () => {
    const unbound = (sql: string): string[] => unboundTables(sql, tables.keys())
    expect(unbound('SELECT * FROM messages WHERE id = ?1')).toEqual(['messages'])
    expect(unbound('SELECT * FROM messages WHERE tenant_id = ?1 AND id = ?2')).toEqual([])
    expect(unbound('UPDATE apps SET name = ?2 WHERE id = ?1')).toEqual(['apps'])
    expect(unbound('SELECT a.id FROM apps AS a JOIN messages AS m ON m.app_id = a.id WHERE a.tenant_id = ?1')).toEqual([
      'messages',
    ])
    expect(
      unbound('SELECT a.id FROM apps AS a JOIN messages AS m ON m.app_id = a.id AND m.tenant_id = a.tenant_id'),
    ).toEqual([])
    expect(unbound('INSERT INTO triggers (id, callback_url) VALUES (?1, ?2)')).toEqual(['triggers'])
    expect(unbound('INSERT INTO triggers (id, tenant_id) VALUES (?1, ?2)')).toEqual([])
    expect(unbound('DELETE FROM jobs WHERE seq = ?1 RETURNING tenant_id')).toEqual(['jobs'])
  })

  test('in every SQL statement', () => {
    expect(sqlStatements().filter((query) => isUnbound(query) && !isListed(query))).toEqual([])
  })

  test('in every Drizzle query', () => {
    const names = [...tables.values()]
    const found = drizzleQueries().filter((query) => names.includes(query.table) && !isBound(query))
    const isMeant = (query: Query & { table: string }, [file, table, , text = '']: (typeof DRIZZLE)[number]): boolean =>
      query.path === file && query.table === table && query.text.includes(text)
    const isListedQuery = (query: Query & { table: string }): boolean =>
      isExemptFile(query.path) || DRIZZLE.some((listed) => isMeant(query, listed))
    expect(found.filter((query) => !isListedQuery(query))).toEqual([])
    expect(DRIZZLE.filter((listed) => !found.some((query) => isMeant(query, listed)))).toEqual([])
  })

  test('in the files of jobs there is no caller, so no request can pass them an id', () => {
    for (const path of Object.keys(JOB_WORK))
      expect(`${path}: ${/caller/i.test(readFileSync(path, 'utf8'))}`).toBe(`${path}: false`)
  })

  test('with listed exceptions that are all needed', () => {
    const unbound = sqlStatements().filter(isUnbound)
    const unboundFiles = new Set([...unbound, ...drizzleQueries()].map(({ path }) => path))
    const unused = STATEMENTS.filter(
      ([file, beginning]) => !unbound.some(({ path, text }) => path === file && text.startsWith(beginning)),
    )
    expect(unused).toEqual([])
    expect(Object.keys(JOB_WORK).filter((file) => !unboundFiles.has(file))).toEqual([])
  })

  test('and a message of an Idempotency-Key is found by the app of the caller', () => {
    const found = sqlStatements().filter(({ text }) => /\b(FROM|JOIN|INTO) idempotency_keys\b/.test(text))
    expect(found.length).toBeGreaterThan(2)
    expect(found.filter(({ text }) => !/\bapp_id\b/.test(text) && !/created_at </.test(text))).toEqual([])
  })
})

/** Whether the query compares the table's tenant, or inserts it with `values({ tenantId })` or a row that has it. */
function isBound({ path, table, text }: Query & { table: string }): boolean {
  if (text.includes(`eq(${table}.tenantId,`)) return true
  if (text.startsWith('.insert(')) return text.includes('tenantId') || insertsTenant(path)
  return text.includes('.where(where)') && startsWithTenant(path, table)
}

/** Whether the inserted row is built above the statement with the caller's tenant. */
const insertsTenant = (path: string): boolean => /tenantId: caller\.tenantId/.test(readFileSync(path, 'utf8'))

/** Whether a condition that a function of the file builds begins with the caller's tenant. */
function startsWithTenant(path: string, table: string): boolean {
  const text = readFileSync(path, 'utf8').replaceAll(/\s+/g, ' ')
  return (
    text.includes('const where = conditions(caller, query)') &&
    text.includes(`return and( eq(${table}.tenantId, caller.tenantId),`)
  )
}
