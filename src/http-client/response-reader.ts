import type * as HttpCommon from 'node:_http_common'

/** Hears of a response while it is read. */
export interface ResponseListener {
  /** 100 Continue, 103 Early Hints …: another response follows. */
  interim?(): void
  head(head: ResponseHead): void
  body(bytes: Uint8Array): void
}

/** Names and values alternate, as they came. */
export class ResponseHead {
  constructor(
    /** 101 when the server wants to speak another protocol: nothing follows then. */
    readonly status: number,
    private readonly fields: readonly string[],
  ) {}

  /** The first of that name, which is given in lower case. */
  header(name: string): string | null {
    for (let place = 0; place < this.fields.length; place += 2) {
      const field = this.fields[place] ?? ''
      if (field.length === name.length && field.toLowerCase() === name) return this.fields[place + 1] ?? null
    }
    return null
  }
}

const FIRST_FINAL_STATUS = 200
const SWITCHING_PROTOCOLS = 101

/** Reads the responses of one connection, one after another (RFC 9112), with the parser of Node: llhttp, strict. */
export class ResponseReader {
  readonly #parser: HttpCommon.HTTPParser
  #listener: ResponseListener | null = null
  #fields: string[] = []
  #hasHead = false
  #isInterim = false
  #state: 'idle' | 'reading' | 'complete' | 'spoilt' = 'idle'
  #keepsAlive = false

  /** `maxHeadBytes`: of status line, headers and trailers. */
  constructor(maxHeadBytes: number) {
    const { HTTPParser } = httpCommon()
    const parser = new HTTPParser()
    this.#parser = parser
    parser.initialize(HTTPParser.RESPONSE, {}, maxHeadBytes)
    parser[HTTPParser.kOnMessageBegin] = () => this.#begin()
    parser[HTTPParser.kOnHeaders] = (fields: string[]) => this.#someFields(fields)
    parser[HTTPParser.kOnHeadersComplete] = (...values: HeadersComplete) => this.#head(values)
    parser[HTTPParser.kOnBody] = (bytes: Uint8Array) => this.#body(bytes)
    parser[HTTPParser.kOnMessageComplete] = () => this.#complete()
  }

  /** The next response is this one's. */
  expect(listener: ResponseListener): void {
    this.#listener = listener
    this.#state = 'reading'
  }

  /** Null, or what is wrong with the bytes (llhttp's code, `HPE_…`). A response that is complete stays so. */
  read(bytes: Uint8Array): string | null {
    const result = this.#parser.execute(bytes)
    if (typeof result === 'number') return null
    if (!this.isComplete) return result.code
    this.#state = 'spoilt'
    return null
  }

  /** The other side has ended, which some responses end with; `isComplete` says whether this one did. */
  finish(): void {
    if (this.#state === 'reading') this.#parser.finish()
  }

  /** The response has come to its end. */
  get isComplete(): boolean {
    return this.#state === 'complete' || this.#state === 'spoilt'
  }

  /** Another request may follow on this connection: the response said so, and nothing came after it. */
  get isReusable(): boolean {
    return this.#state === 'complete' && this.#keepsAlive
  }

  #begin(): void {
    this.#fields = []
    this.#hasHead = false
    if (this.#state !== 'reading') this.#state = 'spoilt'
  }

  /** The parser hands over many fields some at a time. Trailers come after the head and are nothing to us. */
  #someFields(fields: readonly string[]): void {
    if (!this.#hasHead) this.#fields.push(...fields)
  }

  #head([, , fields, , , status, , isUpgrade, keepsAlive]: HeadersComplete): number {
    this.#hasHead = true
    this.#isInterim = status < FIRST_FINAL_STATUS && status !== SWITCHING_PROTOCOLS
    if (this.#state !== 'reading') return 0
    if (this.#isInterim) this.#listener?.interim?.()
    else this.#listener?.head(new ResponseHead(status, fields ?? this.#fields))
    this.#keepsAlive = keepsAlive && !isUpgrade
    return 0
  }

  #body(bytes: Uint8Array): void {
    if (this.#state === 'reading') this.#listener?.body(bytes)
  }

  #complete(): void {
    if (this.#state === 'reading' && !this.#isInterim) this.#state = 'complete'
  }
}

/** Loaded with the first connection: it would cost every start some ten milliseconds. */
const httpCommon = (): typeof HttpCommon =>
  (loaded ??= process.getBuiltinModule('node:_http_common') as unknown as typeof HttpCommon)
let loaded: typeof HttpCommon | null = null

type HeadersComplete = [
  major: number,
  minor: number,
  fields: string[] | null,
  method: number | undefined,
  url: string | undefined,
  status: number,
  statusText: string,
  isUpgrade: boolean,
  keepsAlive: boolean,
]
