import type * as Http from 'node:http'
import type { Reply } from './http.ts'

/** Where one request is answered, well or badly. */
export class Wire {
  constructor(
    private readonly line: Line,
    private readonly keepAlive: boolean,
  ) {}

  send(reply: Reply): void {
    const { head, body } = rawReply(reply, this.keepAlive)
    this.line.write(head + body)
    this.line.answered(this.keepAlive)
  }

  /** Bytes of the caller's own making; end with `cut`. */
  raw(bytes: string | Uint8Array): void {
    this.line.write(bytes)
  }

  /** `reset` sends a TCP RST, `close` an orderly FIN. */
  cut(how: 'reset' | 'close'): void {
    if (how === 'reset') this.line.reset()
    else this.line.end()
  }

  /** After `ms` of real time (undefined: never), or as soon as the client has left. */
  pause(ms: number | undefined): Promise<void> {
    return this.line.pause(ms)
  }

  /** False once the client has left. */
  get open(): boolean {
    return this.line.open
  }
}

/** What a wire needs of its connection. */
export interface Line {
  readonly open: boolean
  write(bytes: string | Uint8Array): void
  answered(keepAlive: boolean): void
  end(): void
  reset(): void
  pause(ms: number | undefined): Promise<void>
}

/** An answer as it goes over the wire, with the headers that the platform puts on every one. */
export function rawReply(reply: Reply, keepAlive: boolean): { head: string; body: string } {
  let head = `HTTP/1.1 ${reply.status} ${http().STATUS_CODES[reply.status] ?? ''}\r\n${COMMON_HEADERS}`
  head += `RCRequestId: ${crypto.randomUUID()}\r\n`
  for (const name in reply.headers) head += `${name}: ${reply.headers[name]}\r\n`
  if (reply.status !== 204) head += `Content-Length: ${Buffer.byteLength(reply.body)}\r\n`
  head += keepAlive ? '\r\n' : 'Connection: close\r\n\r\n'
  return { head, body: reply.body }
}

const COMMON_HEADERS = 'Server: nginx\r\nRoutingKey: SJC01P07\r\nContent-Language: en-US\r\n'

/** Loaded with the first answer: it would cost every start some milliseconds. */
const http = (): typeof Http => (loaded ??= process.getBuiltinModule('node:http'))
let loaded: typeof Http | null = null
