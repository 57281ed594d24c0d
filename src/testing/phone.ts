import { isoTime } from '../core/clock.ts'
import { isE164 } from '../core/phone.ts'
import type { Attachment } from '../simulator/messages.ts'
import type { Simulator } from '../simulator/simulator.ts'

export interface ReceivedMedia {
  /** `type/subtype`, in lower case. */
  contentType: string
  fileName: string | null
  bytes: Uint8Array
}

/** An SMS that a phone has received. */
export interface ReceivedSms {
  /** A number of the gateway. */
  from: string
  /** The phone's own number. */
  to: string
  /** Empty for an MMS without text. */
  text: string
  /** The media of an MMS; else empty. */
  attachments: ReceivedMedia[]
  /** When the provider accepted it, ISO 8601. */
  at: string
}

/** A text that the message contains, a pattern that it matches, or a function that returns true for it. */
export type SmsMatch = string | RegExp | ((message: ReceivedSms) => boolean)

/** The phone of a contact. */
export interface TestPhone {
  number: string
  /** All messages so far, oldest first. */
  readonly inbox: ReceivedSms[]
  /**
   * Resolves with the first message that matches, including one that arrived before the call. Rejects after `timeoutMs`, by default 4 s, which
   * is less than a test of `bun test` may take.
   */
  waitFor(match: SmsMatch, options?: { timeoutMs?: number }): Promise<ReceivedSms>
  /**
   * Texts back: to the number that texted last, otherwise to the gateway's first one. Resolves when the gateway has stored it; with events by
   * WebSocket, which are not acknowledged, when it was sent.
   */
  reply(text: string): Promise<void>
}

const PATIENCE_MS = 4000

/** Returns the function that finds the phone with a number. */
export function createPhones(simulator: Simulator, firstNumber: string): (number: string) => TestPhone {
  const phones = new Map<string, Phone>()
  const phone = (number: string): Phone => {
    const known = phones.get(number)
    if (known !== undefined) return known
    if (!isE164(number)) throw new Error(`Cannot find the phone ${number}: give a number such as +15555550199`)
    const made = new Phone(number, simulator, firstNumber)
    phones.set(number, made)
    return made
  }
  simulator.onPhone(({ from, to, text, attachments, createdAt }) => {
    for (const { phoneNumber } of to)
      if (phoneNumber !== undefined)
        phone(phoneNumber).receive({
          from: from.phoneNumber ?? '',
          to: phoneNumber,
          text: text ?? '',
          attachments: attachments.map(receivedMedia),
          at: isoTime(createdAt),
        })
  })
  return phone
}

const receivedMedia = ({ contentType, fileName, bytes }: Attachment): ReceivedMedia => ({
  contentType,
  fileName,
  bytes: bytes ?? new Uint8Array(),
})

class Phone implements TestPhone {
  readonly inbox: ReceivedSms[] = []
  readonly #waiting = new Set<(message: ReceivedSms) => void>()

  constructor(
    readonly number: string,
    private readonly simulator: Simulator,
    private readonly firstNumber: string,
  ) {}

  receive(message: ReceivedSms): void {
    this.inbox.push(message)
    for (const notify of this.#waiting) notify(message)
  }

  async waitFor(match: SmsMatch, { timeoutMs = PATIENCE_MS }: { timeoutMs?: number } = {}): Promise<ReceivedSms> {
    const found = this.inbox.find((message) => matches(message, match))
    if (found !== undefined) return found
    const { promise, resolve, reject } = Promise.withResolvers<ReceivedSms>()
    const notify = (message: ReceivedSms): void => {
      if (matches(message, match)) resolve(message)
    }
    this.#waiting.add(notify)
    const timer = setTimeout(() => reject(new Error(this.#missing(match, timeoutMs))), timeoutMs)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(notify)
    }
  }

  async reply(text: string): Promise<void> {
    const to = this.inbox.at(-1)?.from ?? this.firstNumber
    const { deliveries } = await this.simulator.control.injectSms({ from: this.number, to, text })
    if (!deliveries.some(({ status }) => status === 200))
      throw new Error(`The gateway did not accept the message from ${this.number} to ${to}`)
  }

  #missing(match: SmsMatch, timeoutMs: number): string {
    const wanted = typeof match === 'function' ? 'for which the function is true' : `that matches ${textOf(match)}`
    const inbox = this.inbox.length === 0 ? 'nothing' : this.inbox.map(({ text }) => JSON.stringify(text)).join(', ')
    return `No message ${wanted} came to ${this.number} within ${timeoutMs} ms; it has received ${inbox}`
  }
}

const textOf = (match: string | RegExp): string => (typeof match === 'string' ? JSON.stringify(match) : String(match))

function matches(message: ReceivedSms, match: SmsMatch): boolean {
  if (typeof match === 'string') return message.text.includes(match)
  // `search` ignores the position that a global pattern keeps.
  return match instanceof RegExp ? message.text.search(match) >= 0 : match(message)
}
