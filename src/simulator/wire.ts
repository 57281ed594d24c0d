import type * as Http from 'node:http'
import type { Reply } from './http.ts'

/** Answers one request, correctly or with a fault. */
export class Wire {
  constructor(
    private readonly connection: WireConnection,
    private readonly keepAlive: boolean,
  ) {}

  /** The reply that `send` has written; null before, and if only raw bytes were written. */
  sent: Reply | null = null

  send(reply: Reply): void {
    this.sent = reply
    const { head, body } = rawReply(reply, this.keepAlive)
    this.connection.write(head + body)
    this.connection.answered(this.keepAlive)
  }

  /** Writes the bytes unchanged. Call `cut` afterwards. */
  raw(bytes: string | Uint8Array): void {
    this.connection.write(bytes)
  }

  /** `reset` sends a TCP RST, `close` an orderly FIN. */
  cut(how: 'reset' | 'close'): void {
    if (how === 'reset') this.connection.reset()
    else this.connection.end()
  }

  /** Resolves after `ms` of real time (undefined: never), or as soon as the client disconnects. */
  pause(ms: number | undefined): Promise<void> {
    return this.connection.pause(ms)
  }

  /** False once the client has disconnected. */
  get open(): boolean {
    return this.connection.open
  }
}

/** The part of `ClientConnection` that a wire uses. */
export interface WireConnection {
  readonly open: boolean
  write(bytes: string | Uint8Array): void
  answered(keepAlive: boolean): void
  end(): void
  reset(): void
  pause(ms: number | undefined): Promise<void>
}

/** Formats an answer, with the headers that the platform adds to every answer. */
export function rawReply(reply: Reply, keepAlive: boolean): { head: string; body: string } {
  let head = `HTTP/1.1 ${reply.status} ${http().STATUS_CODES[reply.status] ?? ''}\r\n${COMMON_HEADERS}`
  head += `RCRequestId: ${crypto.randomUUID()}\r\n`
  for (const name in reply.headers) head += `${name}: ${reply.headers[name]}\r\n`
  if (reply.status !== 204) head += `Content-Length: ${Buffer.byteLength(reply.body)}\r\n`
  head += keepAlive ? '\r\n' : 'Connection: close\r\n\r\n'
  return { head, body: reply.body }
}

const COMMON_HEADERS = 'Server: nginx\r\nRoutingKey: SJC01P07\r\nContent-Language: en-US\r\n'

/** Loaded with the first answer, because loading adds some milliseconds to a start. */
const http = (): typeof Http => (loaded ??= process.getBuiltinModule('node:http'))
let loaded: typeof Http | null = null
