import type { Socket } from 'bun'
import type { Call } from './http.ts'
import { parseRequest, type ParsedRequest } from './request-parser.ts'
import { rawReply, Wire } from './wire.ts'

/** A client's connection. It handles requests one after the other and buffers bytes that the socket does not accept yet. */
export class ClientConnection {
  /** Bytes of an incomplete request. */
  private received: Buffer | null = null
  /** Bytes that the socket has not accepted yet. */
  private unsent: Buffer | null = null
  private busy = false
  private endWhenSent = false
  private readonly pauses = new Set<() => void>()
  open = true

  constructor(
    private readonly socket: Socket<ClientConnection>,
    private readonly answer: Answer,
  ) {}

  data(chunk: Buffer): void {
    const bytes = this.received === null ? chunk : Buffer.concat([this.received, chunk])
    // The chunk's memory belongs to the socket, so bytes that are kept after this call must be a copy.
    const rest = this.busy ? bytes : this.takeRequests(bytes)
    this.received = rest.length === 0 ? null : Buffer.from(rest)
  }

  /** Starts complete requests until one is not answered at once. Returns the remaining bytes. */
  private takeRequests(bytes: Buffer): Buffer {
    let rest = bytes
    while (rest.length > 0 && this.open && !this.busy) {
      const parsed = parseRequest(rest)
      if (parsed === 'continue') this.write('HTTP/1.1 100 Continue\r\n\r\n')
      if (typeof parsed === 'string') return rest
      if (typeof parsed === 'number') {
        this.refuse(parsed)
        return rest.subarray(rest.length)
      }
      rest = rest.subarray(parsed.length)
      this.start(parsed)
    }
    return rest
  }

  private start({ call, keepAlive }: ParsedRequest): void {
    this.busy = true
    this.answer(call, new Wire(this, keepAlive))
  }

  private refuse(status: number): void {
    const { head } = rawReply({ status, headers: {}, body: '' }, false)
    this.write(head)
    this.end()
  }

  /** Call when the current request is answered. It starts the next request if that has been received already. */
  answered(keepAlive: boolean): void {
    if (!keepAlive) return this.end()
    this.busy = false
    const waiting = this.received
    if (waiting === null) return
    this.received = null
    this.data(waiting)
  }

  write(bytes: string | Uint8Array): void {
    if (!this.open) return
    const wanted = Buffer.from(bytes as Uint8Array)
    if (this.unsent !== null) {
      this.unsent = Buffer.concat([this.unsent, wanted])
      return
    }
    const written = this.socket.write(wanted)
    if (written >= 0 && written < wanted.length) this.unsent = wanted.subarray(written)
  }

  drain(): void {
    const waiting = this.unsent
    this.unsent = null
    if (waiting !== null) this.write(waiting)
    if (this.unsent === null && this.endWhenSent) this.socket.end()
  }

  /** Closes the connection with FIN after everything is written. */
  end(): void {
    this.endWhenSent = true
    if (this.unsent === null) this.socket.end()
  }

  /** Closes the connection with RST and drops unwritten bytes. */
  reset(): void {
    this.socket.terminate()
  }

  closed(): void {
    this.open = false
    for (const end of this.pauses) end()
    this.pauses.clear()
  }

  /** Resolves after `ms` of real time (undefined: never), or as soon as the client disconnects. */
  pause(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (!this.open) return resolve()
      const done = (): void => {
        clearTimeout(timer)
        this.pauses.delete(done)
        resolve()
      }
      const timer = ms === undefined ? undefined : setTimeout(done, ms)
      this.pauses.add(done)
    })
  }
}

export type Answer = (call: Call, wire: Wire) => void
