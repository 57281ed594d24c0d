import type { Provider } from '../../../src/provider/provider.ts'
import { type ManualClock, manualClock } from '../../support/manual-clock.ts'
import { FROM, TO, type World, type WorldOptions, createWorld } from '../../support/world.ts'
import { PROVIDER_TIMEOUT_MS } from './faults.ts'
import { pass } from './passing-time.ts'

/** A gateway and a provider on a manual clock, and the published events. */
export class FaultCase implements AsyncDisposable {
  readonly events: string[] = []
  /** The number of open calls to the provider. */
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
    for (const [name, call] of Object.entries(provider) as [string, (...argument: unknown[]) => unknown][]) {
      const counted = (...argument: unknown[]): unknown => {
        const answer = call(...argument)
        if (!(answer instanceof Promise)) return answer
        this.openCalls++
        return answer.finally(() => this.openCalls--)
      }
      Object.assign(provider, { [name]: counted })
    }
  }

  static async open(options: WorldOptions = {}): Promise<FaultCase> {
    const clock = manualClock()
    const env = { PROVIDER_TIMEOUT: `${PROVIDER_TIMEOUT_MS}ms` }
    const world = await createWorld({ clock, env, ...options })
    world.control.setLimits({ enabled: false })
    return new FaultCase(world, clock)
  }

  send(): Promise<string> {
    return this.world.send({ from: FROM, to: TO, body: 'Hello' })
  }

  /** Resolves when the message is `sent` or `failed`, with its state and the elapsed time of the manual clock. */
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
