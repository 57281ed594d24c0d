import { randomInt } from 'node:crypto'
import type { Sgw } from 'sgw/client'

const VALID_MS = 5 * 60_000
const MAX_TRIES = 5

interface SentCode {
  messageId: string
  code: string
  expiresAt: number
  tries: number
}

/** Codes that prove that somebody has a phone. Keep them where your sessions are if several processes serve your app. */
export class OneTimeCodes {
  readonly #sent = new Map<string, SentCode>()

  constructor(
    readonly sgw: Sgw,
    readonly from: string,
  ) {}

  /** Texts a new code, which replaces the previous one. False if that one is less than 30 seconds old. */
  async send(phone: string): Promise<boolean> {
    const before = this.#sent.get(phone)
    if (before !== undefined && before.expiresAt - Date.now() > VALID_MS - 30_000) return false
    const code = String(randomInt(1_000_000)).padStart(6, '0')
    const body = `${code} is your code for example.com. It is valid for five minutes. Tell it nobody.`
    const { messageId } = await this.sgw.sms.send({ from: this.from, to: phone, body })
    this.#sent.set(phone, { messageId, code, expiresAt: Date.now() + VALID_MS, tries: 0 })
    // A code that is still waiting when the next one is sent would only confuse people. If this fails, it has been sent.
    if (before !== undefined) await this.sgw.sms.cancel(before.messageId).catch(() => undefined)
    return true
  }

  /** True once for the right code. */
  isRight(phone: string, given: string): boolean {
    const sent = this.#sent.get(phone)
    if (sent === undefined || sent.expiresAt < Date.now() || ++sent.tries > MAX_TRIES) return false
    if (given.trim() !== sent.code) return false
    this.#sent.delete(phone)
    return true
  }
}
