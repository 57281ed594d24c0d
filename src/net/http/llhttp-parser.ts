import llhttpSource from 'undici/lib/llhttp/llhttp-wasm.js' with { type: 'text' }

/** Receives the results of the parser in order. Each method returns whether the parser should go on. */
export interface LlhttpListener {
  onBegin(): boolean
  /** The name or value of a header, or the next piece of it. After the head, a name or value of a trailer. */
  onField(piece: string, isValue: boolean): boolean
  onHead(head: LlhttpHead): boolean
  onBody(bytes: Uint8Array): boolean
  onComplete(): boolean
}

export interface LlhttpHead {
  status: number
  /** The bytes that follow belong to another protocol. */
  isUpgrade: boolean
  keepsAlive: boolean
}

/** Parses the responses of one connection with llhttp, the parser of Node.js, in strict mode. */
export class LlhttpParser {
  readonly #llhttp = sharedLlhttp()
  readonly #listener: LlhttpListener
  readonly #pointer: number
  #isRunning = false
  #isFreed = false

  constructor(listener: LlhttpListener) {
    this.#listener = listener
    this.#pointer = this.#llhttp.exports.llhttp_alloc(TYPE_RESPONSE)
  }

  /** Parses bytes. Returns null, or llhttp's code for the error (`HPE_…`). */
  execute(bytes: Buffer): string | null {
    for (let start = 0; start < bytes.length && !this.#isFreed; start += MAX_INPUT_BYTES) {
      const code = this.#run(bytes.subarray(start, start + MAX_INPUT_BYTES))
      if (code === PAUSED_UPGRADE) return null
      if (code !== OK) return this.#llhttp.nameOf(code)
    }
    return null
  }

  /** Call when the server has closed the connection, which completes a response without a length. */
  finish(): void {
    if (!this.#isFreed) this.#run(null)
  }

  /** Frees the parser's memory and ends parsing. The listener may call this. */
  free(): void {
    if (this.#isFreed) return
    this.#isFreed = true
    if (!this.#isRunning) this.#llhttp.exports.llhttp_free(this.#pointer)
  }

  /** `bytes`: null for the end of the connection. */
  #run(bytes: Buffer | null): number {
    this.#isRunning = true
    try {
      return this.#llhttp.run(this.#pointer, this.#listener, bytes)
    } finally {
      this.#isRunning = false
      if (this.#isFreed) this.#llhttp.exports.llhttp_free(this.#pointer)
    }
  }
}

/** The part of llhttp's C API (https://llhttp.org) that the parser uses. */
interface LlhttpExports {
  memory: WebAssembly.Memory
  malloc(bytes: number): number
  llhttp_alloc(type: number): number
  llhttp_free(parser: number): void
  llhttp_execute(parser: number, input: number, length: number): number
  llhttp_finish(parser: number): number
  llhttp_errno_name(code: number): number
}

const TYPE_RESPONSE = 2
const OK = 0
const PAUSED_UPGRADE = 22
const STOP = -1
const MAX_INPUT_BYTES = 64 * 1024
const NO_BYTES = Buffer.alloc(0)

/** The WebAssembly module. Its memory holds the state of every parser and the input of the running one. */
class Llhttp {
  readonly exports: LlhttpExports
  readonly #inputAt: number
  #memory = new Uint8Array(0)
  #listener: LlhttpListener | null = null
  #input: Buffer = NO_BYTES
  /** The input as text, made when the first header is read: a call for each of 26 names and values takes several times as long. */
  #inputText: string | null = null

  constructor() {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(llhttpWasm()), { env: this.#callbacks() })
    this.exports = exports as unknown as LlhttpExports
    this.#inputAt = this.exports.malloc(MAX_INPUT_BYTES)
  }

  run(parser: number, listener: LlhttpListener, bytes: Buffer | null): number {
    if (this.#listener !== null) throw new Error('Cannot parse a response: another one is being parsed')
    this.#listener = listener
    this.#input = bytes ?? NO_BYTES
    try {
      if (bytes === null) return this.exports.llhttp_finish(parser)
      // The memory moves when it grows.
      if (this.#memory.buffer !== this.exports.memory.buffer) this.#memory = new Uint8Array(this.exports.memory.buffer)
      this.#memory.set(bytes, this.#inputAt)
      return this.exports.llhttp_execute(parser, this.#inputAt, bytes.length)
    } finally {
      this.#listener = null
      this.#input = NO_BYTES
      this.#inputText = null
    }
  }

  /** The name of a code other than OK, for example `HPE_INVALID_CONSTANT`. */
  nameOf(code: number): string {
    const at = this.exports.llhttp_errno_name(code)
    const memory = Buffer.from(this.exports.memory.buffer)
    return memory.toString('latin1', at, memory.indexOf(0, at))
  }

  /** A callback that returns anything but zero ends parsing with an error. */
  #callbacks(): Record<string, (...args: number[]) => number> {
    const goOn = (answer: boolean | undefined): number => (answer === true ? OK : STOP)
    return {
      wasm_on_message_begin: () => goOn(this.#listener?.onBegin()),
      wasm_on_url: () => OK,
      wasm_on_status: () => OK,
      wasm_on_header_field: (_parser, at, length) => goOn(this.#listener?.onField(this.#text(at, length), false)),
      wasm_on_header_value: (_parser, at, length) => goOn(this.#listener?.onField(this.#text(at, length), true)),
      wasm_on_headers_complete: (_parser, status = 0, upgrade, keepAlive) =>
        goOn(this.#listener?.onHead({ status, isUpgrade: upgrade === 1, keepsAlive: keepAlive === 1 })),
      wasm_on_body: (_parser, at = 0, length = 0) =>
        goOn(this.#listener?.onBody(this.#input.subarray(at - this.#inputAt, at - this.#inputAt + length))),
      wasm_on_message_complete: () => goOn(this.#listener?.onComplete()),
    }
  }

  #text(at = 0, length = 0): string {
    this.#inputText ??= this.#input.toString('latin1')
    return this.#inputText.slice(at - this.#inputAt, at - this.#inputAt + length)
  }
}

/**
 * The WebAssembly module that the undici project compiles from llhttp. It is read from the text of undici's file, because
 * an import would make Bun create an exported name for each of its 54,000 bytes, which takes 12 MB.
 */
function llhttpWasm(): Uint8Array<ArrayBuffer> {
  const base64 = /wasmBase64 = '([\w+/=]+)'/.exec(llhttpSource)?.[1]
  if (base64 === undefined) throw new Error('Cannot load llhttp: undici has changed the file that contains it')
  return Uint8Array.fromBase64(base64)
}

/** Compiled with the first connection, so that the process starts faster. */
const sharedLlhttp = (): Llhttp => (shared ??= new Llhttp())
let shared: Llhttp | null = null
