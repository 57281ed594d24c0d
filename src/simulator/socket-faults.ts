/**
 * Faults of the WebSocket gateway. Those of the first group happen to the open sockets at once, those of the second to the next
 * connections.
 */
export const OPEN_SOCKET_FAULTS = [
  /** A closing frame. */
  'close',
  /** The connection ends without a closing frame. */
  'cut',
  /** The frame WSG-902, then a closing frame. */
  'idle',
  /** The same with WSG-903. */
  'absolute',
  /** The socket stays open, and nothing comes and nothing is heard. */
  'silent',
  /** A `Heartbeat` of the platform's own, which needs no answer. */
  'heartbeat',
  /** A frame that is no JSON. */
  'no-json',
  /** A frame of 20 MB. */
  'huge',
  /** A frame that has only its first part. */
  'no-body',
] as const

export const NEXT_SOCKET_FAULTS = [
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
  /** The next subscription is answered after its first event. */
  'early-event',
] as const

export const SOCKET_FAULTS = [...OPEN_SOCKET_FAULTS, ...NEXT_SOCKET_FAULTS] as const

export type OpenSocketFault = (typeof OPEN_SOCKET_FAULTS)[number]
export type NextSocketFault = (typeof NEXT_SOCKET_FAULTS)[number]

export interface SocketFault {
  kind: OpenSocketFault | NextSocketFault
  /** Only sockets of this extension. */
  extensionId?: string
  /** How many of the next connections it affects. Null: all until it is cleared. Default 1. */
  calls?: number | null
}

/** The faults of connections to come. */
export class SocketFaults {
  #active: { kind: NextSocketFault; extensionId: string | undefined; left: number }[] = []

  add(kind: NextSocketFault, { extensionId, calls = 1 }: Omit<SocketFault, 'kind'>): void {
    this.#active.push({ kind, extensionId, left: calls ?? Number.POSITIVE_INFINITY })
  }

  clear(): void {
    this.#active = []
  }

  draw(extensionId: string, isRecovery: boolean): NextSocketFault | null {
    const hit = this.#active.find(
      (one) => (one.extensionId ?? extensionId) === extensionId && (isRecovery || one.kind !== 'forget'),
    )
    if (hit === undefined) return null
    hit.left--
    this.#active = this.#active.filter(({ left }) => left > 0)
    return hit.kind
  }
}

export const isOpenSocketFault = (kind: string): kind is OpenSocketFault =>
  OPEN_SOCKET_FAULTS.some((one) => one === kind)

export const isNextSocketFault = (kind: string): kind is NextSocketFault =>
  NEXT_SOCKET_FAULTS.some((one) => one === kind)
