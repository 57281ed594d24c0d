import { type LlhttpHead, type LlhttpListener, LlhttpParser } from './llhttp-parser.ts'

/** Receives the parts of one response while it is read. */
export interface HttpResponseListener {
  head(head: HttpResponseHead): void
  body(bytes: Uint8Array): void
}

export class HttpResponseHead {
  constructor(
    /** 101 if the server changes to another protocol. Nothing is read after it. */
    readonly status: number,
    /** Names and values alternate, as the server sent them. */
    private readonly fields: readonly string[],
  ) {}

  /** The first header with this name. `name` must be in lower case. */
  header(name: string): string | null {
    for (let index = 0; index < this.fields.length; index += 2) {
      const field = this.fields[index] ?? ''
      if (field.length === name.length && field.toLowerCase() === name) return this.fields[index + 1]?.trimEnd() ?? null
    }
    return null
  }

  /** All values of a header, as `fetch` joins them; null if there is none. */
  joined(name: string): string | null {
    const values = this.fields.filter((_, index) => index % 2 === 1 && this.fields[index - 1]?.toLowerCase() === name)
    return values.length === 0 ? null : values.map((value) => value.trim()).join(', ')
  }
}

const FIRST_INTERIM_STATUS = 100
const FIRST_FINAL_STATUS = 200
const SWITCHING_PROTOCOLS = 101
/** 100 Continue, 103 Early Hints: a well-behaved server sends one or two before its final response. */
export const MAX_INTERIM_RESPONSES = 8

/** Whether a final response follows. Nothing follows 101. */
export const isInterim = (status: number): boolean => status < FIRST_FINAL_STATUS && status !== SWITCHING_PROTOCOLS
/** A chunk of one byte has five further bytes. */
const MAX_FRAMING_BYTES_PER_BODY_BYTE = 8

/** Reads the responses of one connection, one after another (RFC 9112). Memory is bounded whatever a server sends. */
export class HttpResponseReader implements LlhttpListener {
  readonly #parser = new LlhttpParser(this)
  readonly #maxHeadBytes: number
  #listener: HttpResponseListener | null = null
  #phase: 'idle' | 'head' | 'interim' | 'body' | 'complete' = 'idle'
  #fields: string[] = []
  #fieldBytes = 0
  #interims = 0
  #bodyBytes = 0
  /** Bytes of this response outside its body: heads, chunk sizes and extensions, trailers, empty lines. */
  #framingBytes = 0
  #fault: string | null = null
  #keepsAlive = false

  /** `maxHeadBytes` limits the status lines and headers of one response. */
  constructor(maxHeadBytes: number) {
    this.#maxHeadBytes = maxHeadBytes
  }

  /** Passes the next response to this listener. */
  expect(listener: HttpResponseListener): void {
    this.#listener = listener
    this.#phase = 'head'
    this.#interims = 0
    this.#fieldBytes = 0
    this.#bodyBytes = 0
    this.#framingBytes = 0
  }

  /** Stops reading and reporting immediately, even within the current packet. */
  close(): void {
    this.#listener = null
    this.#parser.free()
  }

  /** Reads bytes. Returns null, or the code of the error in them: llhttp's (`HPE_…`) or `TooManyInterimResponses`. */
  read(bytes: Buffer): string | null {
    const bodyBytes = this.#bodyBytes
    const code = this.#parser.execute(bytes)
    if (this.isComplete) {
      // Bytes after a complete response do not make it incomplete, but the connection cannot be used again.
      if (code !== null) this.#keepsAlive = false
      return null
    }
    this.#framingBytes += bytes.length - (this.#bodyBytes - bodyBytes)
    const maxFramingBytes = this.#maxHeadBytes + this.#bodyBytes * MAX_FRAMING_BYTES_PER_BODY_BYTE
    return this.#fault ?? code ?? (this.#framingBytes > maxFramingBytes ? 'HPE_HEADER_OVERFLOW' : null)
  }

  /**
   * Call when the server has closed the connection, which completes a response without a length. Then read
   * `isComplete`.
   */
  finish(): void {
    if (this.#phase === 'body') this.#parser.finish()
  }

  get isComplete(): boolean {
    return this.#phase === 'complete'
  }

  /** Whether another request may follow on this connection: the response allows it and nothing came after it. */
  get isReusable(): boolean {
    return this.isComplete && this.#keepsAlive
  }

  onBegin(): boolean {
    // A second response is refused, because only one request was sent.
    if (this.isComplete) return false
    if (this.#phase === 'interim') this.#phase = 'head'
    this.#fields = []
    return true
  }

  onField(piece: string, isValue: boolean): boolean {
    // Trailers are ignored.
    if (this.#phase !== 'head') return true
    this.#fieldBytes += piece.length
    if (this.#fieldBytes > this.#maxHeadBytes) return this.#refuse('HPE_HEADER_OVERFLOW')
    const isNext = (this.#fields.length % 2 === 1) === isValue
    if (isNext) this.#fields.push(piece)
    else this.#fields.push((this.#fields.pop() ?? '') + piece)
    return true
  }

  onHead({ status, isUpgrade, keepsAlive }: LlhttpHead): boolean {
    if (status < FIRST_INTERIM_STATUS) return this.#refuse('HPE_INVALID_STATUS')
    if (isInterim(status)) return this.#interim()
    this.#phase = 'body'
    this.#keepsAlive = keepsAlive && !isUpgrade
    this.#listener?.head(new HttpResponseHead(status, this.#fields))
    return this.#listener !== null
  }

  onBody(bytes: Uint8Array): boolean {
    this.#bodyBytes += bytes.length
    this.#listener?.body(bytes)
    return this.#listener !== null
  }

  onComplete(): boolean {
    if (this.#phase === 'body') this.#phase = 'complete'
    return true
  }

  #interim(): boolean {
    this.#phase = 'interim'
    return ++this.#interims < MAX_INTERIM_RESPONSES || this.#refuse('TooManyInterimResponses')
  }

  #refuse(fault: string): boolean {
    this.#fault = fault
    return false
  }
}
