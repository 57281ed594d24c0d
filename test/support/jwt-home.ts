import { rmSync } from 'node:fs'
import { readConfig } from '../../src/core/config.ts'
import { type Log, silentLog } from '../../src/core/log.ts'
import { type RunningGateway, runGateway } from '../../src/server/run.ts'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { type ManualClock, manualClock } from './manual-clock.ts'
import { folderInMemory } from './memory-folder.ts'
import { operate } from './operator.ts'
import { until } from './world.ts'

const NUMBER = '+15555550107'

/** RingCentral, and the data folder of a gateway that is started again and again, with or without RC_JWT. */
export class Home implements AsyncDisposable {
  readonly folder = folderInMemory()
  /** For the next starts. */
  log: Log = silentLog

  private constructor(
    readonly clock: ManualClock,
    readonly simulator: Simulator,
    readonly extensionId: string,
  ) {}

  static async open(): Promise<Home> {
    const clock = manualClock()
    const simulator = await startSimulator({ clock, clientId: 'client', clientSecret: 'client-key' })
    simulator.control.setLimits({ enabled: false })
    const { extensionId } = simulator.control.addExtension({ name: 'Alice', numbers: [NUMBER] })
    return new Home(clock, simulator, extensionId)
  }

  newJwt(): string {
    return this.simulator.control.addJwt({ extensionId: this.extensionId }).jwt
  }

  /** How often a JWT was presented. */
  get presented(): number {
    return this.simulator.control.calls().filter(({ request }) => request.body.includes('assertion=')).length
  }

  /** Starts the gateway, and stops it after `use`. */
  async start(jwt: string | null, use: (gateway: Started) => Promise<void>, env: Record<string, string> = {}) {
    const values = {
      NODE_ENV: 'test',
      PORT: '0',
      RC_EVENTS: 'webhook',
      DATABASE_URL: `file:${this.folder}/sgw.db`,
      RC_SERVER_URL: this.simulator.url,
      RC_CLIENT_ID: 'client',
      RC_CLIENT_SECRET: 'client-key',
      ...(jwt === null || 'RC_JWT_FILE' in env ? {} : { RC_JWT: jwt }),
      ...env,
    }
    const result = readConfig({ values, readFile: () => jwt ?? '' })
    if (!result.ok) throw new Error(result.problems.join('\n'))
    const running = await runGateway({ config: result.config, log: this.log, clock: this.clock })
    running.work()
    this.clock.advance(0)
    const started = new Started(running)
    await started.judged()
    await use(started)
    await running.stop()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.simulator.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export class Started {
  constructor(readonly running: RunningGateway) {}

  get gateway() {
    return this.running.gateway
  }

  /** Waits until RC_JWT was presented, or is known to be needless. */
  judged(): Promise<true> {
    return until(() => this.gateway.configuredJwt.state.kind !== 'untried')
  }

  async rows(sql: string) {
    return (await this.gateway.database.gate.execute(sql)).rows
  }

  extensions() {
    return this.rows('SELECT tenants.name, extensions.status FROM extensions JOIN tenants ON id = tenant_id')
  }

  /** What `sgw doctor` says of authorizations. */
  async doctor(): Promise<{ level: string; detail: string } | undefined> {
    const { body } = await operate<{ check: string; level: string; detail: string }[]>(
      this.running,
      'GET',
      '/v1/operator/doctor',
    )
    return body.find(({ check }) => check === 'authorization')
  }

  async alerts(): Promise<string[]> {
    const { body } = await operate<{ alerts: { alert: string; text: string }[] }>(
      this.running,
      'GET',
      '/v1/operator/alerts',
    )
    return body.alerts.filter(({ alert }) => /jwt|revoked/.test(alert)).map(({ alert, text }) => `${alert}: ${text}`)
  }

  connect(jwt: string, tenantId: unknown) {
    return operate(this.running, 'POST', '/v1/operator/extensions', { jwt, tenantId })
  }
}

export const tenantOf = async (started: Started): Promise<string> =>
  String((await started.rows('SELECT id FROM tenants ORDER BY created_at, id'))[0]?.['id'])
