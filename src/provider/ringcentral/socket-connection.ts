import { z } from 'zod'
import { NO_CLOSING_FRAME, type SocketEnd } from '../event-socket.ts'
import type { ProviderFailure } from '../provider.ts'
import { networkFailure, parseJson, statusFailure } from './errors.ts'
import { hider } from './secrets.ts'
import { optionalText } from './wire-text.ts'

export interface SocketOptions {
  /** Limit for each answer, and for the connection until its first frame. */
  timeoutMs: number
  userAgent: string
  /** Address of the proxy; null for a direct connection. */
  proxy: string | null
  /** Certificate authorities instead of the built-in ones, for tests. */
  ca?: string
}

export interface SocketListener {
  /** Called for each frame. */
  frame(): void
  /** Called with the body of each `ServerNotification`. */
  event(body: object): void
  /** Called once, if the connection ends other than by `end`. */
  ended(why: SocketEnd): void
}

/** The answer to one of the gateway's frames, or why there is none. */
export type SocketAnswer = { meta: FrameMeta; body: unknown } | { failure: ProviderFailure }

/** Longer frames are not read: an event has a few kilobytes. */
const MAX_FRAME_LENGTH = 256 * 1024
/** The id for the expected first frame of the provider's gateway. */
const DETAILS = ''

/**
 * One connection to RingCentral's WebSocket gateway (guide, "Subscribing to events via WebSockets"): a frame is a JSON array of its metadata
 * and a body. A waiting call gets no answer if the connection ends or the call's time limit passes.
 */
export class SocketConnection {
  /** For the recovery of the session (guide, "Recovering a WebSocket session"); null before the gateway has given one. */
  recoveryToken: string | null = null
  hasEnded = false
  readonly #socket: WebSocket
  readonly #credentials: readonly string[]
  readonly #waiting = new Map<string, (answer: SocketAnswer) => void>()
  /** Why the connection ended or is about to, if known. */
  #reason: string | null = null

  /** Throws if the address cannot be used. */
  constructor(
    url: URL,
    readonly options: SocketOptions,
    readonly listener: SocketListener,
  ) {
    const { proxy, ca, userAgent } = options
    this.#credentials = ['access_token', 'wsc'].map((name) => url.searchParams.get(name) ?? '')
    // Without compression, so that a frame cannot grow beyond the received bytes.
    this.#socket = new WebSocket(url.href, {
      perMessageDeflate: false,
      headers: { 'User-Agent': userAgent },
      ...(proxy === null ? {} : { proxy }),
      ...(ca === undefined ? {} : { tls: { ca } }),
    })
    this.#socket.addEventListener('message', ({ data }) => this.#read(data))
    // The error's message contains the address with its credential, so only a code is kept.
    this.#socket.addEventListener('error', (event) => void (this.#reason ??= codeOf(event)))
    this.#socket.addEventListener('close', ({ code }) => this.#ended(code))
  }

  /** The first frame of the provider's gateway. */
  details(): Promise<SocketAnswer> {
    return this.#answer(DETAILS, this.options.timeoutMs)
  }

  /** Sends a frame and waits for the frame with its id. */
  ask(
    meta: Readonly<Record<string, string>>,
    body?: object,
    timeoutMs = this.options.timeoutMs,
  ): Promise<SocketAnswer> {
    const messageId = crypto.randomUUID()
    const answer = this.#answer(messageId, timeoutMs)
    if (!this.hasEnded)
      this.#socket.send(JSON.stringify([{ ...meta, messageId }, ...(body === undefined ? [] : [body])]))
    return answer
  }

  /** The failure in a frame of the provider's gateway, which may repeat the credentials of its address. */
  refusalOf({ meta: { status, headers }, body }: { meta: FrameMeta; body: unknown }): ProviderFailure {
    const answer = { status, body: JSON.stringify(body ?? null), bodyError: null, date: null, retryAfterMs: null }
    const hide = hider([...this.#credentials, this.recoveryToken ?? ''])
    return statusFailure({ ...answer, requestId: headers?.RCRequestId ?? null }, 'api', hide)
  }

  /** Ends the connection immediately, without a call of `ended`. */
  end(): void {
    this.#close()
    this.#socket.terminate()
  }

  #answer(messageId: string, timeoutMs: number): Promise<SocketAnswer> {
    if (this.hasEnded) return Promise.resolve({ failure: this.#failure() })
    const { promise, resolve } = Promise.withResolvers<SocketAnswer>()
    const timer = setTimeout(() => this.#give(messageId, { failure: SILENT }), timeoutMs)
    this.#waiting.set(messageId, (answer) => {
      clearTimeout(timer)
      resolve(answer)
    })
    return promise
  }

  #give(messageId: string, answer: SocketAnswer): boolean {
    const waiting = this.#waiting.get(messageId)
    this.#waiting.delete(messageId)
    waiting?.(answer)
    return waiting !== undefined
  }

  #read(data: unknown): void {
    if (this.hasEnded) return
    this.listener.frame()
    const frame = frameOf(data)
    // It may have been an event, and the provider sends nothing again.
    if (frame === null) return this.#giveUp('unreadable frame')
    const { meta, body } = frame
    if (meta.wsc !== undefined) this.recoveryToken = meta.wsc.token
    if (meta.type === 'ServerNotification')
      return typeof body === 'object' && body !== null ? this.listener.event(body) : this.#giveUp('unreadable frame')
    if (meta.type === 'ConnectionDetails') return void this.#give(DETAILS, frame)
    const isAnswer = meta.messageId !== undefined && meta.messageId !== DETAILS && this.#give(meta.messageId, frame)
    if (isAnswer || meta.type !== 'Error') return
    // The provider's gateway says why before it closes.
    this.#reason = errorSchema.safeParse(body).data?.errorCode ?? null
    this.#give(DETAILS, { failure: this.refusalOf(frame) })
  }

  #giveUp(reason: string): void {
    this.#reason = reason
    this.#ended(NO_CLOSING_FRAME)
    this.#socket.terminate()
  }

  #ended(code: number): void {
    if (this.hasEnded) return
    this.#close()
    this.listener.ended({ code, reason: this.#reason })
  }

  #close(): void {
    this.hasEnded = true
    for (const id of this.#waiting.keys()) this.#give(id, { failure: this.#failure() })
  }

  #failure(): ProviderFailure {
    return networkFailure(this.#reason ?? 'ERR_SOCKET_CLOSED', false)
  }
}

const SILENT = networkFailure('ERR_SOCKET_TIMEOUT', false)

/** It becomes part of an address. Without it the next socket starts a new session. */
const MAX_RECOVERY_LENGTH = 8192

const metaSchema = z.looseObject({
  type: optionalText,
  messageId: optionalText,
  status: z.number().catch(0),
  headers: z.looseObject({ RCRequestId: optionalText }).optional().catch(undefined),
  wsc: z
    .looseObject({ token: z.string().max(MAX_RECOVERY_LENGTH) })
    .optional()
    .catch(undefined),
})
type FrameMeta = z.infer<typeof metaSchema>

/** A code in any other form may be arbitrary text, which must not reach the log. */
const errorSchema = z.looseObject({
  errorCode: z
    .string()
    .regex(/^[A-Z]{2,5}-\d{1,4}$/)
    .optional()
    .catch(undefined),
})

/** Null unless it is a JSON array that begins with an object. */
function frameOf(data: unknown): { meta: FrameMeta; body: unknown } | null {
  const frame = typeof data === 'string' && data.length <= MAX_FRAME_LENGTH ? parseJson(data) : undefined
  const meta = Array.isArray(frame) ? metaSchema.safeParse(frame[0]).data : undefined
  return meta === undefined ? null : { meta, body: (frame as unknown[])[1] }
}

/** `ECONNREFUSED` and the like, or the status of an answer that refuses the upgrade. */
function codeOf(event: Event): string {
  if (!(event instanceof ErrorEvent)) return 'ERR_SOCKET_FAILED'
  const error: unknown = event.error
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  const status = /status code: (\d{3})$/.exec(event.message)?.[1]
  return status === undefined ? 'ERR_SOCKET_FAILED' : `ERR_UPGRADE_${status}`
}
