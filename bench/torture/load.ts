import { pictureBytesOf, uploadPicture } from './pictures.ts'
import type { TortureStage } from './stage.ts'

export interface Sms {
  from: string
  to: string
  body: string
}

export interface SendLoadOptions {
  /** Returns the message with this number. No number is used twice. */
  message: (number: number) => Sms
  senders: number
  /** The pause between two messages of one sender. */
  pauseMs: number
  /**
   * Each message has an `Idempotency-Key` and is sent until it is acknowledged. Every third message is sent twice in
   * parallel.
   */
  keyed?: true
}

const DOWN_PAUSE_MS = 10

/** An acknowledged message. */
export interface Accepted extends Sms {
  /** The size of the picture that it carries; null for a text. */
  pictureBytes: number | null
  /** When its first request began and its first answer arrived, in milliseconds of one clock. */
  askedAt: number
  answeredAt: number
}

const CONTACTS = 30

/** Returns messages from these numbers in turn to a few contacts, each with a text of its own. */
export const distinctMessage =
  (numbers: readonly string[]) =>
  (number: number): Sms => ({
    from: numbers[number % numbers.length] ?? '',
    to: `+155577700${String(Math.floor(number / numbers.length) % CONTACTS).padStart(2, '0')}`,
    body: `Message ${number}`,
  })

/** Sends messages across stops and starts of the gateway, and records every acknowledged message. */
export class SendLoad {
  /** By message id. */
  readonly accepted = new Map<string, Accepted>()
  /** Answers other than 202, by status. */
  readonly refused: Record<string, number> = {}
  /** Requests without an answer: the gateway was down, or was killed meanwhile. */
  unanswered = 0
  /** Error codes of requests that were open at a SIGTERM and were never answered. */
  readonly cut: string[] = []
  /** Keys that were answered with different messages. */
  readonly ambiguousKeys: string[] = []
  readonly #byKey = new Map<string, string>()
  readonly #open = new Set<{ begunBeforeStop: boolean }>()
  #number = 0
  #running = true
  readonly #senders: Promise<void>[]

  constructor(
    readonly stage: TortureStage,
    readonly options: SendLoadOptions,
  ) {
    this.#senders = Array.from({ length: options.senders }, () => this.#sender())
  }

  /** Call right before a SIGTERM. The gateway must answer all requests that are open now. */
  noteStop(): void {
    for (const request of this.#open) request.begunBeforeStop = true
  }

  async stop(): Promise<void> {
    this.#running = false
    await Promise.all(this.#senders)
  }

  async #sender(): Promise<void> {
    while (this.#running) {
      const number = this.#number++
      if (this.options.keyed) await this.#sendKeyed(number)
      else if (!(await this.#send(number))) await Bun.sleep(DOWN_PAUSE_MS)
      await Bun.sleep(this.options.pauseMs)
    }
  }

  async #sendKeyed(number: number): Promise<void> {
    const key = `message-${number}`
    const once = async (): Promise<void> => {
      while (!(await this.#send(number, key))) await Bun.sleep(DOWN_PAUSE_MS)
    }
    await Promise.all(number % 3 === 0 ? [once(), once()] : [once()])
  }

  /** Sends the message with this number, and uploads its picture before if it has one. */
  async #send(number: number, key?: string): Promise<boolean> {
    const pictureBytes = pictureBytesOf(number)
    if (pictureBytes === null) return this.#post(number, { pictureBytes }, key)
    const uploaded = await uploadPicture(this.stage, pictureBytes).catch(() => null)
    if (typeof uploaded === 'string') return this.#post(number, { pictureBytes, mediaIds: [uploaded] }, key)
    if (uploaded === null) this.unanswered++
    else this.#noteRefused(uploaded)
    return false
  }

  async #post(number: number, { pictureBytes, ...media }: Carried, key: string | undefined): Promise<boolean> {
    const sms = { ...this.options.message(number), pictureBytes }
    const request = { begunBeforeStop: false }
    const askedAt = performance.now()
    this.#open.add(request)
    try {
      const headers = key === undefined ? {} : { 'idempotency-key': key }
      const response = await this.stage.call(
        'POST',
        '/v1/sms/send',
        { ...this.options.message(number), ...media },
        headers,
      )
      const answer = (await response.json()) as { messageId: string }
      if (response.status === 202)
        this.#accept({ ...sms, askedAt, answeredAt: performance.now() }, answer.messageId, key)
      else this.#noteRefused(response.status)
      return response.status === 202
    } catch (error) {
      this.unanswered++
      if (request.begunBeforeStop && codeOf(error) !== NEVER_CONNECTED) this.cut.push(codeOf(error))
      return false
    } finally {
      this.#open.delete(request)
    }
  }

  #noteRefused(status: number): void {
    this.refused[status] = (this.refused[status] ?? 0) + 1
  }

  #accept(sms: Accepted, messageId: string, key: string | undefined): void {
    if (!this.accepted.has(messageId)) this.accepted.set(messageId, sms)
    if (key === undefined) return
    const known = this.#byKey.get(key) ?? messageId
    if (known !== messageId) this.ambiguousKeys.push(`${key}: ${known} and ${messageId}`)
    this.#byKey.set(key, known)
  }
}

/** The picture of a message. */
interface Carried {
  pictureBytes: number | null
  mediaIds?: string[]
}

/** The request began before the stop, but connected after the gateway had stopped listening. */
const NEVER_CONNECTED = 'ECONNREFUSED'

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
