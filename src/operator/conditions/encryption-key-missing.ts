import { saidOfLost } from '../../auth/lost-keys.ts'
import type { ConditionSource } from './condition.ts'

/** Stored secrets cannot be decrypted. */
export const encryptionKeyMissing: ConditionSource = {
  alert: 'encryption_key_missing',
  check: 'encryption keys',
  find: async ({ lostKeys: { lost } }) => {
    if (lost === null) return []
    const { owners } = lost
    return [
      {
        ...saidOfLost(lost),
        overText: 'Resolved: every stored secret can be decrypted.',
        detail: { owners: owners.length, first: owners[0] ?? null },
      },
    ]
  },
}
