import { between } from './scenario.ts'
import type { TortureStage } from './stage.ts'

const PAUSE_MS = 40
const WRITERS = 2
/** The share of the provider's events that are lost, and the share that arrive twice. */
const LOST = 0.05
const TWICE = 0.1

/** Contacts that write to the extensions, even while the gateway is down. */
export class InboundTraffic {
  /** Provider ids. */
  readonly arrived = new Set<string>()
  odd = 0
  #number = 0
  #running = true
  readonly #writers: Promise<void>[]

  constructor(
    readonly stage: TortureStage,
    readonly random: () => number,
  ) {
    this.#writers = Array.from({ length: WRITERS }, () => this.#write())
  }

  async stop(): Promise<void> {
    this.#running = false
    await Promise.all(this.#writers)
  }

  async #write(): Promise<void> {
    const { numbers } = this.stage
    while (this.#running) {
      const number = this.#number++
      const to = numbers[number % numbers.length] ?? ''
      await this.#inject({ from: '+15558880001', to, text: `Question ${number}` })
      await Bun.sleep(between(this.random, 0, 2 * PAUSE_MS))
    }
  }

  async #inject(sms: { from: string; to: string; text: string }): Promise<void> {
    const draw = this.random()
    if (draw < LOST + TWICE) this.odd++
    const fate = draw < LOST ? { deliver: false } : draw < LOST + TWICE ? { copies: 2 } : {}
    const { messageId } = await this.stage.control.injectSms({ ...sms, ...fate })
    this.arrived.add(messageId)
  }
}
