import { type Config, readConfig } from '../../src/core/config.ts'
import { openDatabase } from '../../src/db/database.ts'
import type { Gate } from '../../src/db/gate.ts'
import { mediaOf, tenantOf } from './clients.ts'
import type { Statement } from './disk.ts'
import { plainSecrets } from './boot.ts'
import type { ModelProvider } from './model-provider.ts'
import type { Scenario } from './scenario.ts'
import { valueOf } from './timeline.ts'

/** Removes one rule of the design. */
export interface Weakening {
  /** Statements for the fresh database. */
  schema?: readonly string[]
  /** Changes the code of the send engine. Returns a function that restores it. */
  patch?(): () => void
  config?: Partial<Config>
  /** Returns the changes to the database at a crash. */
  atCrash?(bootId: string): Statement[]
}

/** The objects that all seeds of a thread share, because opening a database takes longer than a seed. */
export interface SimulationStage {
  database: Gate
  config: Config
  weakening: Weakening
}

export async function openStage(weakening: Weakening = {}): Promise<SimulationStage> {
  const read = readConfig({ values: { NODE_ENV: 'test' }, readFile: () => '' })
  if (!read.ok) throw new Error(read.problems.join('\n'))
  const { gate: database } = await openDatabase({ url: ':memory:', authToken: null, path: null, litestream: false })
  for (const sql of weakening.schema ?? []) await database.execute(sql)
  return { database, config: { ...read.config, ...weakening.config }, weakening }
}

const TABLES = [
  'delivery_states',
  'messages',
  'send_attempts',
  'jobs',
  'idempotency_keys',
  'media_uses',
  'media_pieces',
  'media',
  'phone_numbers',
  'extensions',
  'apps',
  'tenants',
  'sqlite_sequence',
]
const DAY_MS = 86_400_000
/** A call with it may take 20 s longer. */
const PICTURE_BYTES = 400_000

/** Empties the database and inserts this scenario's tenants and extensions. */
export function setUp(stage: SimulationStage, scenario: Scenario, provider: ModelProvider, now: number): void {
  const statements = TABLES.map((table): Statement => ({ sql: `DELETE FROM ${table}` }))
  for (let tenant = 0; tenant < scenario.tenants; tenant++)
    statements.push(...tenantRows(scenario, provider, tenant, now))
  valueOf(stage.database.batch(statements))
}

function tenantRows(scenario: Scenario, provider: ModelProvider, index: number, now: number): Statement[] {
  const tenantId = tenantOf(index)
  const rows: Statement[] = [
    {
      sql: `INSERT INTO tenants (id, name, status, created_at, updated_at) VALUES (?1, 'Tenant', 'active', ?2, ?2)`,
      args: [tenantId, now],
    },
    {
      sql: `INSERT INTO apps (id, tenant_id, name, role, is_active, key_hash, key_prefix, webhook_secret, created_at, updated_at)
        VALUES (?1, ?2, 'App', 'app', 1, ?1, '', '', ?3, ?3)`,
      args: [`app_${index}`, tenantId, now],
    },
  ]
  rows.push(
    {
      sql: `INSERT INTO media (id, tenant_id, content_type, file_name, size, sha256, uploaded_at)
        VALUES (?1, ?2, 'image/png', '', ${PICTURE_BYTES}, 'sha256', ?3)`,
      args: [mediaOf(index), tenantId, now + 365 * DAY_MS],
    },
    // What the bytes are does not matter here.
    { sql: `INSERT INTO media_pieces (media_id, position, bytes) VALUES (?1, 0, x'89504e47')`, args: [mediaOf(index)] },
  )
  for (const { extensionId, numbers, unread } of scenario.extensions) {
    const pair = provider.connect(extensionId)
    const sealed = (plaintext: string): string =>
      valueOf(plainSecrets.encrypt(plaintext, { tenantId, row: extensionId, purpose: 'rc_access' }))
    rows.push({
      sql: `INSERT INTO extensions (tenant_id, extension_id, account_id, status, connected_at, access_token, access_expires_at,
          refresh_token, refresh_expires_at, refreshed_at, numbers_read_at)
        VALUES (?1, ?2, 'account', 'active', ?3, ?4, ?5, ?6, ?7, ?3, ?3)`,
      args: [
        tenantId,
        extensionId,
        now,
        sealed(pair.accessToken),
        now + pair.expiresInSeconds * 1000,
        sealed(pair.refreshToken ?? ''),
        now + 7 * DAY_MS,
      ],
    })
    if (unread) continue
    for (const number of numbers) {
      rows.push({
        sql: `INSERT INTO phone_numbers (tenant_id, number, extension_id, usage_type, sends_media, owner_id)
          VALUES (?1, ?2, ?3, 'DirectNumber', 1, ?4)`,
        args: [tenantId, number, extensionId, provider.queueOf(number)],
      })
    }
  }
  return rows
}
