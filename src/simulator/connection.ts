import type { Socket } from 'bun'
import type { Call } from './http.ts'
import { parseRequest, type ParsedRequest } from './request-parser.ts'
import { rawReply, Wire } from './wire.ts'

/** A client's connection: handles its requests one after the other and keeps bytes that could not be written yet. */
export class ClientConnection {
  /** Bytes of an incomplete request. */
  private received: Buffer | null = null
  /** Bytes that the socket has not accepted yet. */
  private unsent: Buffer | null = null
  private busy = false
  private endWhenSent = false
  private readonly leaving = new Set<() => void>()
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

  /** Starts complete requests up to one that is not answered at once; returns the rest. */
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

  /** Call when the current request is answered. The next one may have been received already. */
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
    for (const tell of this.leaving) tell()
    this.leaving.clear()
  }

  /** Resolves after `ms` of real time, or as soon as the client has left. */
  pause(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (!this.open) return resolve()
      const done = (): void => {
        clearTimeout(timer)
        this.leaving.delete(done)
        resolve()
      }
      const timer = ms === undefined ? undefined : setTimeout(done, ms)
      this.leaving.add(done)
    })
  }
}

export type Answer = (call: Call, wire: Wire) => void
