import type { Secrets } from '../../../src/core/secrets.ts'
import type { Provider } from '../../../src/provider/provider.ts'
import { createRingCentral } from '../../../src/provider/ringcentral/client.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { sendMedia } from '../../support/media.ts'
import { FROM, TO, type World, type WorldOptions, createWorld, until } from '../../support/world.ts'
import { type FaultyCall, type ProviderFault, PROVIDER_TIMEOUT_MS, timeoutOf } from './faults.ts'
import { pass } from './passing-time.ts'

type Method = (...argument: unknown[]) => unknown

/** A gateway and a provider on a manual clock, and the published events. */
export class FaultCase implements AsyncDisposable {
  readonly events: string[] = []
  /** The number of open calls to the provider, of running encryptions and of long reads. Other threads or processes work on them. */
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
    const { reader } = world.gateway.database
    Object.assign(reader, { longRead: this.#counted(reader.longRead.bind(reader) as Method) })
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

  static async open(options: WorldOptions = {}): Promise<FaultCase> {
    const clock = manualClock()
    const env = { PROVIDER_TIMEOUT: `${PROVIDER_TIMEOUT_MS}ms` }
    const world = await createWorld({ clock, env, ...options })
    world.control.setLimits({ enabled: false })
    // Calls that begin before they are counted would not stop the clock.
    if (options.connect !== false) await until(() => isSubscribed(world))
    return new FaultCase(world, clock)
  }

  /** Applies the fault to the next `calls` calls. If the provider stays silent, only these calls have a short timeout. */
  applyFault({ method, route }: FaultyCall, fault: ProviderFault, calls: number): void {
    const { play, dial, always = false, isSilent = false } = fault
    if (play !== undefined) this.world.control.fault({ route, calls: always ? null : calls, fault: play(route) })
    if (dial !== undefined) this.#divert(method, async () => ({ ok: false, failure: await dial() }), calls)
    if (isSilent) this.#divert(method, this.#impatientClient(timeoutOf(fault))[method] as Method, calls)
  }

  /** Sends the next `calls` calls to `other`. Later calls reach the provider. */
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

  /** With media if it is told so. */
  async send(withMedia = false): Promise<string> {
    const message = { from: FROM, to: TO, body: 'Hello' }
    return withMedia ? sendMedia(this.world, message) : this.world.send(message)
  }

  /** Resolves when the message is `sent` or `failed`, with its state and the elapsed time of the manual clock. */
  async ended(
    messageId: string,
    withinMs: number,
    stepMs?: number,
  ): Promise<{ status: unknown; error: unknown; tookMs: number }> {
    const startedAt = this.clock.now()
    // A request for each step would take most of the test, so the API is asked when the row has ended.
    const ask = async (): Promise<Record<string, unknown> | null> => {
      if (!hasEnded(await this.#stored(messageId))) return null
      const now = await this.world.status(messageId)
      return hasEnded(now['status']) ? now : null
    }
    const state = await pass(this, withinMs, ask, stepMs)
    return { status: state['status'], error: state['error'], tookMs: this.clock.now() - startedAt }
  }

  async #stored(messageId: string): Promise<unknown> {
    const sql = 'SELECT status FROM messages WHERE id = ?1'
    return (await this.world.gateway.database.gate.execute({ sql, args: [messageId] })).rows[0]?.['status']
  }

  /** The number of outbound messages that the provider has. */
  get atProvider(): number {
    return this.world.control.messages({ direction: 'Outbound' }).length
  }

  /** Returns the time at which each attempt of the message began. */
  async attempts(messageId: string): Promise<number[]> {
    const sql = 'SELECT started_at FROM send_attempts WHERE message_id = ?1 ORDER BY seq'
    const { rows } = await this.world.gateway.database.gate.execute({ sql, args: [messageId] })
    return rows.map((row) => Number(row['started_at']))
  }

  /** Returns the extension from the API, or null if none is connected. */
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

const hasEnded = (status: unknown): boolean => status === 'sent' || status === 'failed'

async function isSubscribed({ gateway }: World): Promise<boolean> {
  const sql = `SELECT 1 FROM subscriptions WHERE status = 'active'`
  return (await gateway.database.gate.execute(sql)).rows.length > 0
}
