import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../core/config.ts'
import type { Ids } from '../../core/ids.ts'
import type { Log } from '../../core/log.ts'
import type { Database } from '../../db/database.ts'
import type { RestoreMark } from '../../db/mark-file.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { ClockCheck } from '../../provider/clock-check.ts'
import type { Directory } from '../../provider/directory.ts'
import type { MessageListings } from '../../provider/message-listings.ts'
import type { Numbers } from '../../provider/numbers.ts'
import type { Provider } from '../../provider/provider.ts'
import type { Quota } from '../../provider/quota.ts'
import type { ExtensionCalls } from '../../provider/extension-calls.ts'
import type { Tokens } from '../../provider/tokens.ts'
import type { ReceiptTracking } from '../receipts/tracking.ts'

/** The parts of the gateway that the send engine uses. */
export interface SendingContext {
  config: Config
  clock: Clock
  ids: Ids
  log: Log
  database: Database
  /** The id of this process. An open attempt with another `bootId` has an unknown outcome. */
  bootId: string
  restoreMark: RestoreMark
  jobs: Jobs
  provider: Provider
  directory: Directory
  tokens: Tokens
  clockCheck: Pick<ClockCheck, 'isTrusted' | 'dueUntil' | 'toSteadyMs'>
  extensionCalls: ExtensionCalls
  quota: Quota
  numbers: Numbers
  messageListings: MessageListings
  receipts: Pick<ReceiptTracking, 'isOn' | 'sent'>
  /** How many requests are being answered now. */
  requests: () => number
  /** Calls `run` after the current tick of the event loop. */
  defer: (run: () => void) => void
}
