import { backupBehind } from './backup-behind.ts'
import { clockWrong } from './clock-wrong.ts'
import type { ConditionSource } from './condition.ts'
import { encryptionKeyMissing } from './encryption-key-missing.ts'
import { extensionFailing } from './extension-failing.ts'
import { extensionNotReceiving } from './extension-not-receiving.ts'
import { extensionRevoked } from './extension-revoked.ts'
import { jwtEnds } from './jwt-ends.ts'
import { jwtRefused } from './jwt-refused.ts'
import { noExtensionCanSend } from './no-extension-can-send.ts'
import { providerCredentials } from './provider-credentials.ts'
import { providerUnreachable } from './provider-unreachable.ts'
import { queueOld } from './queue-old.ts'
import { sessionEnds } from './session-ends.ts'
import { standbyCannotTakeOver, standbyMissing } from './standby.ts'
import { storageFailing } from './storage-failing.ts'
import { webhookFailing } from './webhook-failing.ts'
import { webhooksInterrupted } from './webhooks-interrupted.ts'

/**
 * Everything that needs attention, one source each, in the order of posts: what concerns the gateway itself comes before what concerns one
 * tenant. To add one, write its file, its line here, and its row in docs/alerts.md; if it has traits, also its line in `traits.ts`.
 */
export const CONDITIONS: readonly ConditionSource[] = [
  storageFailing,
  encryptionKeyMissing,
  providerCredentials,
  jwtRefused,
  providerUnreachable,
  clockWrong,
  backupBehind,
  standbyMissing,
  standbyCannotTakeOver,
  noExtensionCanSend,
  extensionRevoked,
  queueOld,
  extensionNotReceiving,
  extensionFailing,
  jwtEnds,
  sessionEnds,
  webhookFailing,
  webhooksInterrupted,
]
