import { MAX_INTERIM_RESPONSES, isInterim } from '../http/http-response-reader.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const STATUS_LINE = /^HTTP\/\d\.\d ([1-9]\d\d)(?: |$)/
const START = 'HTTP/'

export interface FoundStatusLine {
  status: number
  /** What was received from this line on. */
  bytes: Buffer
}

/** Finds the final status line of a response (RFC 9112 4). It passes over interim responses, whatever fields they have. */
export class StatusLineFinder {
  readonly #maxBytes: number
  /** The incomplete line. */
  #unread: Buffer = Buffer.alloc(0)
  #passedBytes = 0
  #isInFields = false
  #interims = 0

  /** `maxBytes` limits what may come before the end of the line. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Reads the next bytes. Returns the line, null if it has not arrived yet, or a code if it never can. */
  read(bytes: Buffer): FoundStatusLine | string | null {
    this.#unread = Buffer.concat([this.#unread, bytes])
    for (let end = this.#unread.indexOf(LINE_FEED); end !== -1; end = this.#unread.indexOf(LINE_FEED)) {
      if (this.#passedBytes + end > this.#maxBytes) break
      const found = this.#readLine(lineOf(this.#unread.subarray(0, end)))
      if (found !== null) return found
      this.#unread = this.#unread.subarray(end + 1)
      this.#passedBytes += end + 1
    }
    if (this.#passedBytes + this.#unread.length > this.#maxBytes) return 'HPE_HEADER_OVERFLOW'
    const mayGoOn = this.#isInFields || START.startsWith(lineOf(this.#unread).slice(0, START.length))
    return mayGoOn ? null : 'HPE_INVALID_CONSTANT'
  }

  #readLine(line: string): FoundStatusLine | string | null {
    if (this.#isInFields) {
      this.#isInFields = line !== ''
      return null
    }
    // RFC 9112 2.2: empty lines may come before a status line.
    if (line === '') return null
    const status = Number(STATUS_LINE.exec(line)?.[1])
    if (Number.isNaN(status)) return 'HPE_INVALID_CONSTANT'
    if (!isInterim(status)) return { status, bytes: this.#unread }
    this.#isInFields = true
    return ++this.#interims < MAX_INTERIM_RESPONSES ? null : 'TooManyInterimResponses'
  }
}

/** A line without its end. Some servers end lines with a line feed alone. */
const lineOf = (bytes: Buffer): string =>
  bytes.toString('latin1', 0, bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length)
