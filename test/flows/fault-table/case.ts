import type { Provider } from '../../../src/provider/provider.ts'
import { createRingCentral } from '../../../src/provider/ringcentral/client.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { FROM, TO, type World, type WorldOptions, createWorld } from '../../support/world.ts'
import { type FaultyCall, type ProviderFault, PROVIDER_TIMEOUT_MS, strike, timeoutOf } from './faults.ts'
import { pass } from './passing-time.ts'

type Method = (...argument: unknown[]) => unknown

/** A gateway and a provider whose time passes only when the test says so, and what was published meanwhile. */
export class Case implements AsyncDisposable {
  readonly events: string[] = []
  /** Calls of the provider that are under way. */
  openCalls = 0

  private constructor(
    readonly world: World,
    readonly clock: ManualClock,
  ) {
    world.gateway.hub.subscribe((event) => {
      if (event.type === 'sms_status') this.events.push(event.status)
    })
    this.#countCalls(world.gateway.provider)
  }

  #countCalls(provider: Provider): void {
    for (const [name, call] of Object.entries(provider) as [string, Method][])
      Object.assign(provider, { [name]: this.#counted(call) })
  }

  #counted(call: Method): Method {
    return (...argument) => {
      const answer = call(...argument)
      if (!(answer instanceof Promise)) return answer
      this.openCalls++
      return answer.finally(() => this.openCalls--)
    }
  }

  static async open(options: WorldOptions = {}): Promise<Case> {
    const clock = manualClock()
    const env = { PROVIDER_TIMEOUT: `${PROVIDER_TIMEOUT_MS}ms` }
    const world = await createWorld({ clock, env, ...options })
    world.control.setLimits({ enabled: false })
    return new Case(world, clock)
  }

  /** Lets the next `calls` calls suffer the fault. If no answer comes, they alone are given up early. */
  suffer(call: FaultyCall, fault: ProviderFault, calls: number): void {
    strike(this.world, call, fault, calls)
    if (fault.isSilent === true) this.#shorten(call.method, timeoutOf(fault), calls)
  }

  #shorten(method: FaultyCall['method'], timeoutMs: number, calls: number): void {
    const { provider, config, clock } = this.world.gateway
    const options = { ...config.provider, timeoutMs, userAgent: 'sgw/test', now: clock.now, steady: clock.steady }
    const impatient = this.#counted(createRingCentral(options)[method] as Method)
    const patient = provider[method] as Method
    let left = calls
    const call: Method = (...argument) => (left-- > 0 ? impatient : patient)(...argument)
    Object.assign(provider, { [method]: call })
  }

  send(): Promise<string> {
    return this.world.send({ from: FROM, to: TO, body: 'Hello' })
  }

  /** Settles when the message is `sent` or `failed`: its state, and how much of the test's time that took. */
  async ended(
    messageId: string,
    withinMs: number,
    stepMs?: number,
  ): Promise<{ status: unknown; error: unknown; tookMs: number }> {
    const startedAt = this.clock.now()
    const ask = async (): Promise<Record<string, unknown> | null> => {
      const now = await this.world.status(messageId)
      return now['status'] === 'sent' || now['status'] === 'failed' ? now : null
    }
    const state = await pass(this, withinMs, ask, stepMs)
    return { status: state['status'], error: state['error'], tookMs: this.clock.now() - startedAt }
  }

  /** SMS that the provider has from us. */
  get atProvider(): number {
    return this.world.control.messages({ direction: 'Outbound' }).length
  }

  /** When each attempt of the message began. */
  async attempts(messageId: string): Promise<number[]> {
    const sql = 'SELECT started_at FROM send_attempts WHERE message_id = ?1 ORDER BY seq'
    const { rows } = await this.world.gateway.database.gate.execute({ sql, args: [messageId] })
    return rows.map((row) => Number(row['started_at']))
  }

  /** The extension as the API tells it; null when none is connected. */
  async extension(): Promise<{ status: string; phoneNumbers: string[] } | null> {
    const { body } = await this.world.json<{ extensions: { status: string; phoneNumbers: string[] }[] }>(
      'GET',
      '/v1/rc/extensions',
    )
    return body.extensions[0] ?? null
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.world[Symbol.asyncDispose]()
  }
}
