/** What operators may do with the built-in simulator. It is declared here so that production never loads the simulator. */
export interface SimulatorAccess extends ProviderChanges {
  /** Sends an SMS to a number, as a phone would. Resolves when the webhooks have answered; rejects if no extension has the number. */
  injectSms(sms: {
    to: string
    from: string
    /** Null for an MMS without text. */
    text: string | null
    attachments?: { contentType: string; fileName: string; data: string }[]
  }): Promise<{ messageId: string; deliveries: { status: number | null }[] }>
  /** Sets the fault of the next send, which uses it up; null takes it back. */
  setNextFault(fault: NextFault | null): void
  nextFault(): NextFault | null
  /** Makes the provider treat the next messages, or all calls, in a way that a test needs. */
  simulate(wish: SituationWish): void
  /** Moves the time forward by milliseconds; absent unless the gateway was started for tests. */
  advance?: (ms: number) => Promise<void>
  /** The last calls between the gateway and the simulator, oldest first. `limit` counts from the newest. */
  calls(filter: CallFilter): RecordedCall[]
}

/** The calls of the simulator's control interface with these names. Each checks its argument, and returns what it has changed. */
interface ProviderChanges {
  configure(settings: object): object
  addQueue(queue: object): object
  addNumber(number: object): object
  removeNumber(number: object): object
  setExtensionStatus(change: object): object
  addJwt(credential: object): object
  removeJwt(credential: object): object
  faultSockets(fault: object): object
}

export const PROVIDER_CHANGES = [
  'configure',
  'addQueue',
  'addNumber',
  'removeNumber',
  'setExtensionStatus',
  'addJwt',
  'removeJwt',
  'faultSockets',
] as const satisfies (keyof ProviderChanges)[]

export interface ProviderChange {
  name: (typeof PROVIDER_CHANGES)[number]
  /** As the control interface takes it. */
  argument: Record<string, unknown>
}

/** The grants that an app may use; `jwt` is `urn:ietf:params:oauth:grant-type:jwt-bearer`. */
export const GRANTS = ['authorization_code', 'refresh_token', 'jwt'] as const

/** What happens to the sockets that bring events. The first nine happen at once to those that are open, the others to what comes next. */
export const SOCKET_FAULTS = [
  /** A closing frame. */
  'close',
  /** The connection ends without a closing frame. */
  'cut',
  /** The frame WSG-902, then a closing frame. */
  'idle',
  /** The same with WSG-903. */
  'absolute',
  /** The socket stays open, but nothing comes and nothing is heard. */
  'silent',
  /** A `Heartbeat` of the platform's own, which needs no answer. */
  'heartbeat',
  /** A frame that is no JSON. */
  'no-json',
  /** A frame of 20 MB. */
  'huge',
  /** A frame that has only its first part. */
  'no-body',
  /** The upgrade is answered 503. */
  'refuse',
  /** The upgrade is answered 401, as with a ticket that has expired. */
  'unauthorized',
  /** The upgrade is never answered. */
  'hang',
  /** An `Error` frame instead of `ConnectionDetails`, then a closing frame. */
  'error',
  /** No `ConnectionDetails`; all else works. */
  'no-details',
  /** The session is not recovered. Only connections that ask for it count. */
  'forget',
  /** The subscription is answered after its first event. */
  'early-event',
  /** The ticket is refused. 403: the app lacks the permission. */
  'ticket-401',
  'ticket-403',
  'ticket-429',
  'ticket-503',
  /** The ticket is never answered. */
  'ticket-hang',
  /** The subscription is refused: 403, SUB-505. */
  'no-subscription',
  /** An event is lost, comes late, or comes twice. */
  'drop',
  'delay',
  'duplicate',
] as const
export type SocketFaultKind = (typeof SOCKET_FAULTS)[number]

/** How records write phone numbers: `+18661234567`, `18661234567`, `(866)123-4567`. All occur (RingCentral API reference, `phoneNumber` of a message's parties). */
export const NUMBER_FORMS = ['e164', 'digits', 'american'] as const

/** What lists with `owner=Any` and `owner=Shared` do: show the messages of call queues, or answer 400, or show none. */
export const SHARED_OWNER_ANSWERS = ['shown', 'refused', 'ignored'] as const

/** The documented statuses of an extension, and `Deleted`, which no answer names. */
export const PROVIDER_STATUSES = ['Enabled', 'Disabled', 'Frozen', 'NotActivated', 'Unassigned', 'Deleted'] as const

/**
 * `429`: refused, with `Retry-After: 2`. `5xx-after`: a 502 after the message was accepted. `slow`: takes 3 s. `opted-out`: accepted,
 * and then not delivered with the code 413.
 */
export const NEXT_FAULTS = ['429', '5xx-after', 'slow', 'opted-out'] as const
export type NextFault = (typeof NEXT_FAULTS)[number]

/**
 * `fail`: refuses a send for good. `limit`: refuses it for now, with `Retry-After: 1`. `undelivered`: accepts it, and then does not
 * deliver it. `outage`: answers 503 to every call. `reset`: ends all of these, and every other fault.
 */
export const SITUATIONS = ['fail', 'limit', 'undelivered', 'outage', 'reset'] as const
export type Situation = (typeof SITUATIONS)[number]

export interface SituationWish {
  situation: Situation
  /** How many sends it affects. Not for `outage` and `reset`. */
  times: number
  /** The delivery error code of `undelivered`. */
  code: string
}

export interface CallFilter {
  /** Calls about a message from this number. With both numbers: in both directions. */
  from?: string | undefined
  to?: string | undefined
  /** Epoch milliseconds. */
  since?: number | undefined
  limit?: number | undefined
}

/** One HTTP call. Tokens are masked, and bodies cut at 4,096 bytes. */
export interface RecordedCall {
  /** Epoch milliseconds. */
  at: number
  durationMs: number
  /** `out`: the gateway called. `in`: the simulator called the gateway's webhook. */
  direction: 'in' | 'out'
  /** The name of the simulator's route, or `event`. */
  route: string
  method: string
  path: string
  request: { headers: Record<string, string>; body: string }
  /** Null if the connection was cut without an answer. */
  response: { status: number; headers: Record<string, string>; body: string } | null
  /** The fault that was played. */
  fault: string | null
  /** The id of the message that the call is about. */
  rcMessageId?: string
}
