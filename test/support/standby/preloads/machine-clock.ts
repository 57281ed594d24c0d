// A preload for a gateway on a machine that is paused (`bun --preload`): what its clocks and timers do not see has not happened.
// The file that SGW_MACHINE_PAUSES names holds the sum of all pauses in milliseconds, as a 64-bit float.

const pauses = new Float64Array(Bun.mmap(process.env['SGW_MACHINE_PAUSES'] ?? '', { shared: true }).buffer)
const [wallClock, monotonicClock] = [Date.now, performance.now.bind(performance)]
const [startTimer, stopTimer, stopInterval] = [setTimeout, clearTimeout, clearInterval]

Date.now = () => wallClock() - Math.round(pauses[0] ?? 0)
performance.now = () => monotonicClock() - (pauses[0] ?? 0)

/** Fires when the machine's own time has come. The system's timers count the pause. */
class MachineTimer implements Disposable {
  #dueAt: number
  #timer: NodeJS.Timeout
  #isReferenced = true

  constructor(
    readonly delayMs: number,
    readonly fire: () => void,
    readonly isRepeated: boolean,
  ) {
    this.#dueAt = performance.now() + delayMs
    this.#timer = startTimer(() => this.#wake(), delayMs)
  }

  #wake(): void {
    const leftMs = this.#dueAt - performance.now()
    if (leftMs > 1) return this.#arm(leftMs)
    if (this.isRepeated) this.refresh()
    this.fire()
  }

  #arm(delayMs: number): void {
    stopTimer(this.#timer)
    this.#timer = startTimer(() => this.#wake(), delayMs)
    if (!this.#isReferenced) this.#timer.unref()
  }

  refresh(): this {
    this.#dueAt = performance.now() + this.delayMs
    this.#arm(this.delayMs)
    return this
  }

  ref(): this {
    this.#isReferenced = true
    this.#timer.ref()
    return this
  }

  unref(): this {
    this.#isReferenced = false
    this.#timer.unref()
    return this
  }

  hasRef(): boolean {
    return this.#isReferenced
  }

  close(): void {
    stopTimer(this.#timer)
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

type Callback = (...given: unknown[]) => void

const timerOf =
  (isRepeated: boolean) =>
  (callback: Callback, delayMs = 0, ...given: unknown[]): MachineTimer =>
    new MachineTimer(Math.max(1, delayMs), () => callback(...given), isRepeated)

const stop =
  (native: (timer: unknown) => void) =>
  (timer: unknown): void =>
    timer instanceof MachineTimer ? timer.close() : native(timer)

Object.assign(globalThis, {
  setTimeout: timerOf(false),
  setInterval: timerOf(true),
  clearTimeout: stop(stopTimer as (timer: unknown) => void),
  clearInterval: stop(stopInterval as (timer: unknown) => void),
})

Bun.sleep = (until) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, until instanceof Date ? until.getTime() - Date.now() : until)
  return promise
}

AbortSignal.timeout = (delayMs) => {
  const controller = new AbortController()
  const end = (): void => controller.abort(new DOMException('The operation timed out.', 'TimeoutError'))
  setTimeout(end, delayMs).unref()
  return controller.signal
}

/** The threads are on the same machine. */
class MachineWorker extends Worker {
  constructor(url: string | URL, options: WorkerOptions = {}) {
    super(url, { ...options, preload: import.meta.path })
  }
}
globalThis.Worker = MachineWorker
