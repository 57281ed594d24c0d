import type { Secrets } from '../../../src/core/secrets.ts'
import type { Provider } from '../../../src/provider/provider.ts'
import { createRingCentral } from '../../../src/provider/ringcentral/client.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { FROM, TO, type World, type WorldOptions, createWorld, until } from '../../support/world.ts'
import { type FaultyCall, type ProviderFault, PROVIDER_TIMEOUT_MS, timeoutOf } from './faults.ts'
import { pass } from './passing-time.ts'

type Method = (...argument: unknown[]) => unknown

/** A gateway and a provider whose time passes only when the test says so, and what was published meanwhile. */
export class Case implements AsyncDisposable {
  readonly events: string[] = []
  /** Calls of the provider, and encryptions, that are under way: others than this thread work on them. */
  openCalls = 0

  private constructor(
    readonly world: World,
    readonly clock: ManualClock,
  ) {
    world.gateway.hub.subscribe((event) => {
      if (event.type === 'sms_status') this.events.push(event.status)
    })
    this.#countCalls(world.gateway.provider)
    this.#countCalls(world.gateway.secrets)
  }

  #countCalls(callee: Provider | Secrets): void {
    for (const [name, call] of Object.entries(callee))
      if (typeof call === 'function') Object.assign(callee, { [name]: this.#counted(call as Method) })
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
    // Calls that began before they are counted would not make time stand still.
    if (options.connect !== false) await until(() => isSubscribed(world))
    return new Case(world, clock)
  }

  /** Lets the next `calls` calls suffer the fault. Of a fault that is silent they alone are given up early. */
  suffer({ method, route }: FaultyCall, fault: ProviderFault, calls: number): void {
    const { play, dial, always = false, isSilent = false } = fault
    if (play !== undefined) this.world.control.fault({ route, calls: always ? null : calls, fault: play(route) })
    if (dial !== undefined) this.#divert(method, async () => ({ ok: false, failure: await dial() }), calls)
    if (isSilent) this.#divert(method, this.#impatientClient(timeoutOf(fault))[method] as Method, calls)
  }

  /** The next `calls` calls go another way; those after them reach the provider as before. */
  #divert(method: FaultyCall['method'], other: Method, calls: number): void {
    const { provider } = this.world.gateway
    const usual = provider[method] as Method
    const diverted = this.#counted(other)
    let left = calls
    const call: Method = (...argument) => (left-- > 0 ? diverted : usual)(...argument)
    Object.assign(provider, { [method]: call })
  }

  #impatientClient(timeoutMs: number): Provider {
    const { config, clock } = this.world.gateway
    const time = { now: () => clock.now(), steady: () => clock.steady() }
    return createRingCentral({ ...config.provider, ...time, timeoutMs, userAgent: 'sgw/test' })
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

async function isSubscribed({ gateway }: World): Promise<boolean> {
  const sql = `SELECT 1 FROM subscriptions WHERE status = 'active'`
  return (await gateway.database.gate.execute(sql)).rows.length > 0
}
