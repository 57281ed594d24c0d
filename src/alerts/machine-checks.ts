import { describeLost } from '../auth/lost-keys.ts'
import { readBackupLag } from '../backup/lag.ts'
import type { Row } from '../db/connection.ts'
import { storageProblem } from '../db/storage-check.ts'
import type { Gateway } from '../gateway.ts'
import type { Condition, Check } from './condition.ts'

const MINUTE_MS = 60_000
/** A message that waits for longer is an alert. The contract limits a number to 40 a minute, so messages above that wait. */
const QUEUE_AGE_MS = 10 * MINUTE_MS
const MAX_BACKUP_LAG_MS = MINUTE_MS
/** Litestream begins to answer some seconds after its start. */
const SILENT_BACKUP_HOLD_MS = 2 * MINUTE_MS

export const machineChecks = (gateway: Gateway): Check[] => [
  { names: ['storage_failing'], find: () => findStorageFault(gateway) },
  { names: ['encryption_key_missing'], find: () => findLostKeys(gateway) },
  { names: ['clock_wrong'], find: () => findWrongClock(gateway) },
  { names: ['backup_behind'], find: () => findBackupLag(gateway) },
  { names: ['queue_old'], find: () => findOldQueue(gateway) },
]

async function findStorageFault(gateway: Gateway): Promise<Condition[]> {
  const why = await storageProblem(gateway)
  if (why === null) return []
  const { path } = gateway.config.database
  const name = `The database ${path ?? ''}`.trimEnd()
  const condition: Condition = {
    alert: 'storage_failing',
    subject: 'database',
    text: `${name}: ${why}.`,
    overText: `Resolved: ${name} can be written again.`,
    detail: { database: path },
    holdMs: 0,
    since: null,
  }
  return [condition]
}

async function findLostKeys({ lostKeys }: Gateway): Promise<Condition[]> {
  if (lostKeys.lost === null) return []
  const condition: Condition = {
    alert: 'encryption_key_missing',
    subject: 'ENCRYPTION_KEYS',
    text: `${describeLost(lostKeys.lost)}.`,
    overText: 'Resolved: every stored secret can be decrypted.',
    detail: { owners: lostKeys.lost.owners.length, first: lostKeys.lost.owners[0] ?? null },
    holdMs: 0,
    since: null,
  }
  return [condition]
}

function findWrongClock({ clockCheck }: Gateway): Promise<Condition[]> {
  const fault = clockCheck.describe()
  if (fault === null) return Promise.resolve([])
  const condition: Condition = {
    alert: 'clock_wrong',
    subject: 'clock',
    text: `${fault}.`,
    overText: `Resolved: this machine's clock agrees with the provider's.`,
    detail: { aheadSeconds: Math.round((clockCheck.aheadMs ?? 0) / 1000) },
    // After the machine has slept, the next answer of the provider shows that all is well.
    holdMs: MINUTE_MS,
    since: null,
  }
  return Promise.resolve([condition])
}

async function findBackupLag({ config }: Gateway): Promise<Condition[]> {
  if (!config.litestream) return []
  const { lagMs } = await readBackupLag(config.database.path)
  if (lagMs !== null && lagMs <= MAX_BACKUP_LAG_MS) return []
  const seconds = lagMs === null ? null : Math.round(lagMs / 1000)
  const what = seconds === null ? 'does not say how far it is' : `has been behind for ${seconds} s`
  const condition: Condition = {
    alert: 'backup_behind',
    subject: 'backup',
    text: `The backup of ${config.database.path ?? 'the database'} ${what}: see sgw doctor, and keep the volume until it has caught up.`,
    overText: `Resolved: the backup of ${config.database.path ?? 'the database'} is up to date again.`,
    detail: { lagSeconds: seconds },
    holdMs: seconds === null ? SILENT_BACKUP_HOLD_MS : 0,
    since: null,
  }
  return [condition]
}

async function findOldQueue(gateway: Gateway): Promise<Condition[]> {
  const { clock } = gateway
  const oldest = await oldestMessage(gateway)
  const ageMs = oldest === undefined ? 0 : clock.steady() - Number(oldest['created_at'])
  if (oldest === undefined || ageMs <= QUEUE_AGE_MS) return []
  const messageId = String(oldest['subject'])
  const minutes = Math.floor(ageMs / MINUTE_MS)
  const condition: Condition = {
    alert: 'queue_old',
    subject: 'queue',
    text: `Message ${messageId} has waited for ${minutes} minutes to be sent, and is the oldest of the queue: see sgw status and sgw doctor.`,
    overText: `Resolved: no message has waited for more than 10 minutes any more; the alert began with ${messageId}.`,
    detail: { messageId, waitingSeconds: Math.floor(ageMs / 1000) },
    holdMs: 0,
    since: Math.floor(clock.now() - ageMs),
  }
  return [condition]
}

const ROWS_PER_STEP = 1000

const STEP = `SELECT jobs.seq, subject, jobs.created_at, tenants.status FROM jobs INDEXED BY jobs_sends
  LEFT JOIN tenants ON tenants.id = jobs.tenant_id WHERE kind = 'send' AND jobs.seq > ?1 ORDER BY jobs.seq LIMIT ${ROWS_PER_STEP}`

/** The oldest message that waits, without those that the operator holds by suspending their tenant: they would hide the others. */
async function oldestMessage({ database, clock }: Gateway): Promise<Row | undefined> {
  for (let after = 0; ;) {
    const { rows } = await database.gate.execute({ sql: STEP, args: [after] })
    const oldest = rows.find(({ status }) => status !== 'suspended' && status !== 'inactive')
    const last = rows.at(-1)
    if (oldest !== undefined || last === undefined || rows.length < ROWS_PER_STEP) return oldest
    if (clock.steady() - Number(last['created_at']) <= QUEUE_AGE_MS) return undefined
    after = Number(last['seq'])
    await new Promise((resolve) => void setImmediate(resolve))
  }
}
