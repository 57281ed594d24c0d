import type { Stage } from './stage.ts'

export interface Sms {
  from: string
  to: string
  body: string
}

export interface LoadOptions {
  /** The message with this number; numbers are never used twice. */
  message: (number: number) => Sms
  senders: number
  /** Between two messages of one sender. */
  pauseMs: number
}

const DOWN_PAUSE_MS = 10

/** Keeps sending while the gateway comes and goes, and remembers every message that was acknowledged. */
export class Load {
  /** By message id. */
  readonly accepted = new Map<string, Sms>()
  /** Answers other than 202, by status. */
  readonly refused: Record<string, number> = {}
  /** Requests without an answer: the gateway was down, or was killed meanwhile. */
  unanswered = 0
  /** How those ended that the gateway had not answered when it was told to stop, and never did. */
  readonly cut: string[] = []
  readonly #open = new Set<{ begunBeforeStop: boolean }>()
  #number = 0
  #running = true
  readonly #senders: Promise<void>[]

  constructor(
    readonly stage: Stage,
    readonly options: LoadOptions,
  ) {
    this.#senders = Array.from({ length: options.senders }, () => this.#sender())
  }

  /** Call right before a SIGTERM: what is under way now must be answered. */
  noteStop(): void {
    for (const request of this.#open) request.begunBeforeStop = true
  }

  async stop(): Promise<void> {
    this.#running = false
    await Promise.all(this.#senders)
  }

  async #sender(): Promise<void> {
    while (this.#running) {
      const answered = await this.#send(this.options.message(this.#number++))
      await Bun.sleep(answered ? this.options.pauseMs : DOWN_PAUSE_MS)
    }
  }

  async #send(sms: Sms): Promise<boolean> {
    const request = { begunBeforeStop: false }
    this.#open.add(request)
    try {
      const response = await this.stage.call('POST', '/v1/sms/send', sms)
      const answer = (await response.json()) as { messageId: string }
      if (response.status === 202) this.accepted.set(answer.messageId, sms)
      else this.refused[response.status] = (this.refused[response.status] ?? 0) + 1
      return response.status === 202
    } catch (error) {
      this.unanswered++
      if (request.begunBeforeStop && codeOf(error) !== NEVER_CONNECTED) this.cut.push(codeOf(error))
      return false
    } finally {
      this.#open.delete(request)
    }
  }
}

/** Begun before the stop, but by then the gateway had stopped listening. */
const NEVER_CONNECTED = 'ECONNREFUSED'

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
