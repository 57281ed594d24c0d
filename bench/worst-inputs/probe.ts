import { readFileSync } from 'node:fs'
import { threadTimes } from '../support/thread-times.ts'
import type { Input } from './input.ts'

/** Requests that cost less are not worth a second measurement. */
const CHEAP_MS = 2
/** The code of an expensive one is compiled only after some repetitions. A tenth failure would block its client. */
const REPETITIONS = 9
const POLL_MS = 1
/** The event loop has nothing left to do for a request after this many checks without any work. */
const QUIET_LOOKS = 3
const GIVE_UP_MS = 5000

export interface Cost {
  input: Input
  firstMs: number
  lowestMs: number
}

/** Measures what requests cost the thread of the event loop of a gateway in another process. */
export class Probe {
  constructor(
    readonly port: number,
    readonly pid: number,
  ) {}

  /** Processor time from the connection until nothing is left to do. */
  async cost(input: Input): Promise<Cost> {
    const firstMs = await this.#once(input)
    let lowestMs = firstMs
    for (let n = 1; n < REPETITIONS && lowestMs > CHEAP_MS; n++) lowestMs = Math.min(lowestMs, await this.#once(input))
    return { input, firstMs, lowestMs }
  }

  async #once({ bytes }: Input): Promise<number> {
    const before = this.#used()
    let answered = false
    let rest = bytes
    const end = (): void => void (answered = true)
    const write = (socket: Bun.Socket): void => void (rest = rest.subarray(socket.write(rest)))
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: this.port,
      socket: { open: write, drain: write, data: end, close: end, error: end },
    })
    await this.#untilQuiet(() => answered)
    socket.terminate()
    return this.#used() - before
  }

  /** Waits until the thread sleeps and does not wake up. */
  async #untilQuiet(isReady: () => boolean): Promise<void> {
    const deadline = performance.now() + GIVE_UP_MS
    let last = this.#used()
    for (let looks = 0; looks < QUIET_LOOKS && performance.now() < deadline;) {
      await Bun.sleep(POLL_MS)
      const used = this.#used()
      looks = isReady() && used === last && this.#sleeps() ? looks + 1 : 0
      last = used
    }
  }

  #used(): number {
    return (threadTimes(this.pid).get(this.pid) ?? 0) / 1_000_000
  }

  #sleeps(): boolean {
    const stat = readFileSync(`/proc/${this.pid}/task/${this.pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('S')
  }
}
