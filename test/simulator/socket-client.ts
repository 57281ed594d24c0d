import { until } from '../support/world.ts'
import type { SimulatorHarness } from './harness.ts'

export const INSTANT = '/restapi/v1.0/account/~/extension/~/message-store/instant?type=SMS'

/** The first part of a frame. */
export interface FrameMeta {
  type: string
  messageId: string
  status: number
  headers: Record<string, string>
  wsc: { token: string; sequence: number }
}

/** What tests read of the second part. */
export interface FrameBody {
  [name: string]: unknown
  id: string
  errorCode: string
  status: string
  recoveryState: string
  body: { subject: string }
}

export type Frame = [meta: FrameMeta, body: FrameBody]

/** A plain client of the simulator's WebSocket gateway. */
export class SocketClient implements Disposable {
  /** As they came. */
  readonly texts: string[] = []
  pings = 0
  closed: { code: number; wasClean: boolean } | null = null
  readonly #socket: WebSocket
  #requests = 0

  constructor(uri: string) {
    this.#socket = new WebSocket(uri)
    this.#socket.addEventListener('message', ({ data }) => void this.texts.push(String(data)))
    // Bun tells of pings, which the types of the web do not have.
    this.#socket.addEventListener('ping' as 'open', () => void this.pings++)
    this.#socket.addEventListener('close', ({ code, wasClean }) => void (this.closed = { code, wasClean }))
  }

  get frames(): Frame[] {
    return this.texts.map((text) => JSON.parse(text) as Frame)
  }

  get events(): string[] {
    return this.frames.filter(([{ type }]) => type === 'ServerNotification').map(([, { body }]) => body.subject)
  }

  send(frame: unknown): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame))
  }

  found(type: string): Promise<Frame> {
    return until(() => this.frames.find(([meta]) => meta.type === type))
  }

  async request(method: string, path: string, body?: unknown, more: object = {}): Promise<Frame> {
    await until(() => this.#socket.readyState !== WebSocket.CONNECTING)
    const messageId = `request ${++this.#requests}`
    const meta = { type: 'ClientRequest', messageId, method, path: `/restapi/v1.0${path}`, ...more }
    this.send(body === undefined ? [meta] : [meta, body])
    return until(() => this.frames.find((frame) => frame[0].messageId === messageId))
  }

  subscribe(eventFilters: string[] = [INSTANT]): Promise<Frame> {
    return this.request('POST', '/subscription', { eventFilters, deliveryMode: { transportType: 'WebSocket' } })
  }

  untilClosed(): Promise<{ code: number; wasClean: boolean }> {
    return until(() => this.closed)
  }

  close(): void {
    this.#socket.close()
  }

  [Symbol.dispose](): void {
    this.#socket.terminate()
  }
}

export interface Ticket {
  uri: string
  ws_access_token: string
  expires_in: number
}

export async function ticketOf({ simulator }: SimulatorHarness, accessToken: string): Promise<Ticket> {
  const headers = { authorization: `Bearer ${accessToken}` }
  return (await (await fetch(`${simulator.url}/restapi/oauth/wstoken`, { method: 'POST', headers })).json()) as Ticket
}

/** Opens a socket with a ticket of its own. */
export async function openSocket(
  harness: SimulatorHarness,
  accessToken: string,
  recover?: string,
): Promise<SocketClient> {
  const { uri, ws_access_token } = await ticketOf(harness, accessToken)
  const more = recover === undefined ? '' : `&wsc=${recover}`
  return new SocketClient(`${uri}?access_token=${ws_access_token}${more}`)
}
