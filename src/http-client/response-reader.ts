import type * as HttpCommon from 'node:_http_common'

/** Hears of a response while it is read. */
export interface ResponseListener {
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

const FIRST_INTERIM_STATUS = 100
const FIRST_FINAL_STATUS = 200
const SWITCHING_PROTOCOLS = 101
/** 100 Continue, 103 Early Hints …: an honest server sends one or two before its answer. */
const MAX_INTERIM_RESPONSES = 8

/** Reads the responses of one connection, one after another (RFC 9112), with the parser of Node: llhttp, strict. */
export class ResponseReader {
  readonly #parser: HttpCommon.HTTPParser
  readonly #maxHeadBytes: number
  #listener: ResponseListener | null = null
  #fields: string[] = []
  #interims = 0
  /** Bytes that came before the head of the response itself. */
  #headBytes = 0
  #state: 'idle' | 'head' | 'interim' | 'body' | 'complete' | 'spoilt' | 'faulty' = 'idle'
  /** What we cannot take although the parser does. */
  #fault = ''
  #keepsAlive = false

  /** `maxHeadBytes`: of status line and headers, and of trailers. */
  constructor(maxHeadBytes: number) {
    const { HTTPParser } = httpCommon()
    const parser = new HTTPParser()
    this.#parser = parser
    this.#maxHeadBytes = maxHeadBytes
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
    this.#state = 'head'
    this.#interims = 0
    this.#headBytes = 0
  }

  /** Nobody hears of the rest, not even of what the same packet brought. */
  ignore(): void {
    this.#listener = null
    this.#state = 'spoilt'
  }

  /** Null, or what is wrong with the bytes: llhttp's code (`HPE_…`), or `TooManyInterimResponses`. A response that is complete stays so. */
  read(bytes: Uint8Array): string | null {
    const result = this.#parser.execute(bytes)
    if (this.#state === 'faulty') return this.#fault
    if (typeof result === 'number') return this.#tooLong(bytes.length)
    if (!this.isComplete) return result.code
    this.#state = 'spoilt'
    return null
  }

  /** The other side has ended, which some responses end with; `isComplete` says whether this one did. */
  finish(): void {
    if (this.#state === 'body') this.#parser.finish()
  }

  /** The response has come to its end. */
  get isComplete(): boolean {
    return this.#state === 'complete' || this.#state === 'spoilt'
  }

  /** Another request may follow on this connection: the response said so, and nothing came after it. */
  get isReusable(): boolean {
    return this.#state === 'complete' && this.#keepsAlive
  }

  /** What comes before the head is bounded too: empty lines are skipped, and interim responses are many. */
  #tooLong(bytes: number): string | null {
    if (this.#state !== 'head' && this.#state !== 'interim') return null
    this.#headBytes += bytes
    return this.#headBytes > this.#maxHeadBytes ? 'HPE_HEADER_OVERFLOW' : null
  }

  #begin(): void {
    this.#fields = []
    if (this.#state === 'interim') this.#state = 'head'
    else if (this.isComplete) this.#state = 'spoilt'
  }

  /** The parser hands over many fields some at a time. Trailers come after the head and are nothing to us. */
  #someFields(fields: readonly string[]): void {
    if (this.#state === 'head') this.#fields.push(...fields)
  }

  #head([, , fields, , , status, , isUpgrade, keepsAlive]: HeadersComplete): number {
    if (this.#state !== 'head') return 0
    if (status < FIRST_INTERIM_STATUS) this.#refuse('HPE_INVALID_STATUS')
    else if (status < FIRST_FINAL_STATUS && status !== SWITCHING_PROTOCOLS) this.#interim()
    else {
      this.#state = 'body'
      this.#keepsAlive = keepsAlive && !isUpgrade
      this.#listener?.head(new ResponseHead(status, fields ?? this.#fields))
    }
    return 0
  }

  #interim(): void {
    this.#state = 'interim'
    if (++this.#interims >= MAX_INTERIM_RESPONSES) this.#refuse('TooManyInterimResponses')
  }

  #refuse(fault: string): void {
    this.#state = 'faulty'
    this.#fault = fault
  }

  #body(bytes: Uint8Array): void {
    if (this.#state === 'body') this.#listener?.body(bytes)
  }

  #complete(): void {
    if (this.#state === 'body') this.#state = 'complete'
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
