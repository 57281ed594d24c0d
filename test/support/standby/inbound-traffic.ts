import type { Api } from '../client-ledger.ts'
import { NUMBER } from '../deployment.ts'
import type { RemoteSimulator } from '../remote-simulator.ts'

const PAUSE_MS = 150
const PAGE_SIZE = 100

/** A contact that keeps writing, whether or not a gateway is there. */
export class InboundTraffic {
  written = 0
  #isOver = false
  readonly #writing: Promise<void>

  constructor(readonly simulator: RemoteSimulator) {
    this.#writing = this.#write()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#writing
  }

  /** How many of its texts the gateway never got, and how many it got more than once. */
  async missingAndTwice(api: Api): Promise<{ missing: number; twice: number }> {
    const texts: string[] = []
    for (let page = 1; ; page++) {
      const answer = await api.call('GET', `/v1/sms/messages?direction=inbound&page=${page}&limit=${PAGE_SIZE}`)
      const { messages } = (await answer.json()) as { messages: { body: string }[] }
      texts.push(...messages.map(({ body }) => body))
      if (messages.length < PAGE_SIZE) break
    }
    const distinct = new Set(texts)
    return { missing: this.written - distinct.size, twice: texts.length - distinct.size }
  }

  async #write(): Promise<void> {
    while (!this.#isOver) {
      const text = `Question ${this.written}`
      await this.simulator.control('injectSms', { from: '+15558880001', to: NUMBER, text })
      this.written++
      await Bun.sleep(PAUSE_MS)
    }
  }
}
