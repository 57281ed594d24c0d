import type { Clock } from '../core/clock.ts'
import type { NextFault } from '../core/simulator-access.ts'
import { CallRecord } from './call-record.ts'
import { Codes } from './codes.ts'
import { Consents } from './consents.ts'
import { Directory } from './directory.ts'
import { EventFaults } from './event-faults.ts'
import { Faults } from './faults.ts'
import { Jwts } from './jwts.ts'
import { type Message, Messages } from './messages.ts'
import { RateLimit } from './rate-limit.ts'
import { RequestLog } from './request-log.ts'
import { Sessions } from './sessions.ts'
import { defaultSettings, type Settings } from './settings.ts'
import { SocketFaults } from './socket-faults.ts'
import { Sockets } from './sockets.ts'
import { SubscriptionBook } from './subscription-book.ts'
import { Threads } from './threads.ts'

/** The state of one simulated platform, shared by routes, events and control. */
export interface World {
  clock: Clock
  /** The simulator's address, without a slash at the end. */
  url: string
  client: ClientApp
  settings: Settings
  directory: Directory
  /** The next logins at the authorize page, set by the control API: an extension's id, or a denial. Each is used once. */
  logins: (number | 'deny')[]
  codes: Codes
  jwts: Jwts
  sessions: Sessions
  messages: Messages
  threads: Threads
  consents: Consents
  subscriptions: SubscriptionBook
  rateLimit: RateLimit
  faults: Faults
  eventFaults: EventFaults
  socketFaults: SocketFaults
  sockets: Sockets
  log: RequestLog
  /** Called with each message that reaches the phone of its recipient. */
  phones: Set<(message: Message) => void>
  /** The last calls with bodies, for the console. */
  calls: CallRecord
  /** The fault of the next send, set by the console. */
  next: NextFault | null
  /** Running event deliveries. */
  deliveries: Set<Promise<unknown>>
  /** Aborted by `stop`. Nothing may happen afterward. */
  stopping: AbortController
}

/** The one registered app. */
export interface ClientApp {
  id: string
  secret: string
}

export interface WorldOptions {
  clock: Clock
  url: string
  client: ClientApp
  allowHttpWebhooks: boolean
  limits: boolean
}

export function createWorld(options: WorldOptions): World {
  const { clock, url, client } = options
  const settings = defaultSettings(options.allowHttpWebhooks)
  const sessions = new Sessions(clock)
  const subscriptions = new SubscriptionBook(clock)
  const consents = new Consents(clock)
  return {
    clock,
    url,
    client,
    settings,
    directory: new Directory(),
    logins: [],
    codes: new Codes(clock),
    jwts: new Jwts(clock),
    sessions,
    messages: new Messages(clock, settings, consents),
    threads: new Threads(clock),
    consents,
    subscriptions,
    rateLimit: new RateLimit(clock, options.limits),
    faults: new Faults(),
    eventFaults: new EventFaults(),
    socketFaults: new SocketFaults(),
    sockets: new Sockets({ clock, settings, sessions, subscriptions }),
    log: new RequestLog(),
    phones: new Set(),
    calls: new CallRecord(),
    next: null,
    deliveries: new Set(),
    stopping: new AbortController(),
  }
}
