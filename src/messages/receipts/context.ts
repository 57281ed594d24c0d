import type { Clock } from '../../core/clock.ts'
import type { Config } from '../../core/config.ts'
import type { Log } from '../../core/log.ts'
import type { Meter } from '../../core/meter.ts'
import type { Database } from '../../db/database.ts'
import type { MessageListings } from '../../provider/message-listings.ts'
import type { Provider } from '../../provider/provider.ts'

/** The parts of the gateway that tracking uses. */
export interface ReceiptContext {
  config: Config
  clock: Clock
  log: Log
  meter: Meter
  database: Database
  provider: Provider
  messageListings: MessageListings
}
