import { describeLost } from '../../auth/lost-keys.ts'
import { storageProblem } from '../../db/storage-check.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { readBackup } from '../backup/read-backup.ts'
import { readOldestMessage } from '../../messages/gateway-state/queue.ts'
import type { AlertCondition, AlertCheck } from './condition.ts'
import { findMissingStandby } from './standby-check.ts'

const MINUTE_MS = 60_000
/** A message that waits for longer is an alert. The contract limits a number to 40 a minute, so messages above that wait. */
const QUEUE_AGE_MS = 10 * MINUTE_MS
/** Litestream begins to answer some seconds after its start. */
const SILENT_BACKUP_HOLD_MS = 2 * MINUTE_MS

export const machineChecks = (gateway: Gateway): AlertCheck[] => [
  { names: ['storage_failing'], find: () => findStorageFault(gateway) },
  { names: ['encryption_key_missing'], find: () => findLostKeys(gateway) },
  { names: ['clock_wrong'], find: () => findWrongClock(gateway) },
  { names: ['backup_behind'], find: () => findBackupLag(gateway) },
  { names: ['standby_missing', 'standby_cannot_take_over'], find: async () => findMissingStandby(gateway) },
  { names: ['queue_old'], find: () => findOldQueue(gateway) },
]

async function findStorageFault(gateway: Gateway): Promise<AlertCondition[]> {
  const why = await storageProblem(gateway)
  if (why === null) return []
  const { path } = gateway.config.database
  const name = `The database ${path ?? ''}`.trimEnd()
  return [
    {
      alert: 'storage_failing',
      subject: 'database',
      text: `${name}: ${why}.`,
      overText: `Resolved: ${name} can be written again.`,
      detail: { database: path },
    },
  ]
}

async function findLostKeys({ lostKeys }: Gateway): Promise<AlertCondition[]> {
  if (lostKeys.lost === null) return []
  return [
    {
      alert: 'encryption_key_missing',
      subject: 'ENCRYPTION_KEYS',
      text: `${describeLost(lostKeys.lost)}.`,
      overText: 'Resolved: every stored secret can be decrypted.',
      detail: { owners: lostKeys.lost.owners.length, first: lostKeys.lost.owners[0] ?? null },
    },
  ]
}

async function findWrongClock({ clockCheck, lease }: Gateway): Promise<AlertCondition[]> {
  const [fault, beside] = [clockCheck.describe(), lease?.clockFault() ?? null]
  const ofStorage: AlertCondition[] =
    beside === null
      ? []
      : [
          {
            alert: 'clock_wrong',
            subject: 'storage',
            text: `${beside}.`,
            overText: `Resolved: this machine's clock agrees with the storage's.`,
            detail: {},
            holdMs: MINUTE_MS,
          },
        ]
  if (fault === null) return ofStorage
  return [
    ...ofStorage,
    {
      alert: 'clock_wrong',
      subject: 'clock',
      text: `${fault}.`,
      overText: `Resolved: this machine's clock agrees with the provider's.`,
      detail: { aheadSeconds: Math.round((clockCheck.aheadMs ?? 0) / 1000) },
      // After the machine has slept, the next answer of the provider shows that all is well.
      holdMs: MINUTE_MS,
    },
  ]
}

async function findBackupLag(gateway: Gateway): Promise<AlertCondition[]> {
  const { state, lagMs } = await readBackup(gateway)
  if (state === 'off' || state === 'current') return []
  const seconds = lagMs === null ? null : Math.round(lagMs / 1000)
  const what = seconds === null ? 'does not say how far it is' : `has been behind for ${seconds} s`
  const name = `backup of ${gateway.config.database.path ?? 'the database'}`
  return [
    {
      alert: 'backup_behind',
      subject: 'backup',
      text: `The ${name} ${what}: see sgw doctor, and keep the volume until it has caught up.`,
      overText: `Resolved: the ${name} is up to date again.`,
      detail: { lagSeconds: seconds },
      holdMs: state === 'silent' ? SILENT_BACKUP_HOLD_MS : 0,
    },
  ]
}

async function findOldQueue(gateway: Gateway): Promise<AlertCondition[]> {
  const oldest = await readOldestMessage(gateway)
  if (oldest === null || oldest.waitingMs <= QUEUE_AGE_MS) return []
  const { messageId, tenantId, waitingMs, since } = oldest
  const minutes = Math.floor(waitingMs / MINUTE_MS)
  return [
    {
      alert: 'queue_old',
      subject: 'queue',
      text: `Message ${messageId} has waited for ${minutes} minutes to be sent, and is the oldest of the queue: see sgw status and sgw doctor.`,
      overText: `Resolved: no message has waited for more than 10 minutes any more; the alert began with ${messageId}.`,
      detail: { messageId, tenantId, waitingSeconds: Math.floor(waitingMs / 1000) },
      since,
    },
  ]
}
