import { diagnose } from '../../../src/operator/doctor/diagnose.ts'
import { readStatus } from '../../../src/operator/status.ts'
import type { EventSocket } from '../../../src/provider/event-socket.ts'
import type { ProviderResult } from '../../../src/provider/provider.ts'
import type { Fault } from '../../../src/simulator/faults.ts'
import { FROM, type World, type WorldOptions, recordedLog, until } from '../../support/world.ts'
import { FaultCase } from '../fault-table/case.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
const STEP_MS = 500
/** For waits of many minutes: shorter than a socket's silence. */
const LONG_STEP_MS = 5 * SECOND
const VERY_LONG_STEP_MS = 20 * SECOND
const CONTACT = '+15555550177'

/** What people see of the extension. */
export interface Shown {
  /** Of `sgw status`: active and pending. */
  status: [active: number, pending: number]
  /** Of the extensions' health. */
  health: string
  reason: string | null
  fix: string | null
}

/** A gateway whose texts come over a socket, and a provider, both on one manual clock. */
export class SocketCase implements AsyncDisposable {
  private constructor(
    readonly one: FaultCase,
    readonly lines: string[],
  ) {}

  /** `timeoutMs`: of the provider's calls, in real time; short where an answer never comes. */
  static async open({
    timeoutMs = 10_000,
    env = {},
    connect = true,
    ...other
  }: WorldOptions & { timeoutMs?: number } = {}) {
    const { log, lines } = recordedLog()
    const values = { PROVIDER_TIMEOUT: `${timeoutMs}ms`, RC_EVENTS: 'websocket', ...env }
    const one = await FaultCase.open({ outside: true, log, connect: false, env: values, ...other })
    const it = new SocketCase(one, lines)
    it.#countAnswers()
    if (connect) await one.world.connect()
    if (connect && values.RC_EVENTS === 'websocket') await until(async () => (await it.shown()).health === 'active')
    return it
  }

  get world(): World {
    return this.one.world
  }

  get control() {
    return this.one.world.control
  }

  /** The answers over a socket must not be outrun by the clock. */
  #countAnswers(): void {
    const { provider } = this.world.gateway
    const open = provider.openEventSocket
    const counted = async <T>(answer: Promise<T>): Promise<T> => {
      this.one.openCalls++
      return answer.finally(() => this.one.openCalls--)
    }
    provider.openEventSocket = async (token, request): Promise<ProviderResult<EventSocket>> => {
      const opened = await open(token, request)
      if (!opened.ok) return opened
      const { heartbeat, isSubscribed } = opened.value
      return {
        ok: true,
        value: {
          ...opened.value,
          heartbeat: () => counted(heartbeat()),
          isSubscribed: () => counted(isSubscribed()),
        },
      }
    }
  }

  /** Somebody texts us. */
  text(words: string, deliver = true) {
    return this.control.injectSms({ from: CONTACT, to: FROM, text: words, deliver })
  }

  async bodies(): Promise<unknown[]> {
    const sql = `SELECT body FROM messages WHERE direction = 'inbound' ORDER BY body`
    return (await this.world.gateway.database.gate.execute(sql)).rows.map((row) => row['body'])
  }

  /** Resolves as soon as the text is stored, while the clock stands still. */
  arrives = (words: string): Promise<true> => until(async () => (await this.bodies()).includes(words))

  sockets = (): number => this.control.sockets().length

  /** Advances the clock until there is an answer. Throws after `withinMs` of it. */
  async pass<T>(withinMs: number, ask: () => Promise<T | null | false> | T | null | false): Promise<T> {
    const deadline = this.one.clock.now() + withinMs
    const stepMs = withinMs > 30 * MINUTE ? VERY_LONG_STEP_MS : withinMs > 5 * MINUTE ? LONG_STEP_MS : STEP_MS
    for (;;) {
      const answer = await ask()
      if (answer !== null && answer !== false) return answer
      if (this.one.openCalls === 0) {
        if (this.one.clock.now() >= deadline) throw new Error(`Nothing came within ${withinMs} ms of the test's time`)
        this.one.clock.advance(stepMs)
      }
      // Frames travel in real time.
      await Bun.sleep(2)
    }
  }

  run(ms: number): Promise<boolean> {
    const end = this.one.clock.now() + ms
    return this.pass(ms + MINUTE, () => this.one.clock.now() >= end)
  }

  /** Milliseconds of the clock until a socket is open and known to be. */
  async reopened(withinMs: number): Promise<number> {
    const startedAt = this.one.clock.now()
    await this.pass(withinMs, async () => this.sockets() === 1 && (await this.shown()).health === 'active')
    return this.one.clock.now() - startedAt
  }

  /** Resolves when the gateway knows that it has no socket: while the clock stands still, or within some time of it. */
  async noticed(withinMs = 0): Promise<void> {
    const isKnown = async (): Promise<boolean> => (await this.shown()).health !== 'active'
    await (withinMs === 0 ? until(isKnown) : this.pass(withinMs, isKnown))
  }

  fault(route: string, fault: Fault, calls: number | null = 1): void {
    this.control.fault({ route, calls, fault })
  }

  async shown(): Promise<Shown> {
    const { gateway } = this.world
    const { body } = await this.world.json<{
      extensions: { reason: string | null; fix: string | null; subscription: { status: string } }[]
    }>('GET', '/v1/rc/extensions/health')
    const [extension] = body.extensions
    const { active, pending } = (await readStatus(gateway)).subscriptions
    return {
      status: [active, pending],
      health: extension?.subscription.status ?? 'none',
      reason: extension?.reason ?? null,
      fix: extension?.fix ?? null,
    }
  }

  async doctor(): Promise<string> {
    const found = (await diagnose(this.world.gateway)).find(({ check }) => check === 'subscriptions')
    return `${found?.level}: ${found?.detail}`
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.one[Symbol.asyncDispose]()
  }
}
