import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StatusReport } from '../../src/operator/status.ts'
import { GatewayProcess } from './gateway-process.ts'
import { freePort } from '../../test/support/program.ts'
import { eventually } from './program.ts'
import { CLIENT, type SimulatorProcess, startSimulatorProcess } from './simulator-process.ts'

export interface TortureStageOptions {
  env?: Record<string, string>
  extensions?: number
  numbersPerExtension?: number
  webhookUrl?: string
  /** Starts something between the gateway and the simulator. Returns its address. */
  between?: (simulatorUrl: string) => Promise<string>
}

/** Timeouts are short enough for many kills a minute. The provider's late accepts stay far below the settle time. */
const ENVIRONMENT = {
  RC_CLIENT_ID: CLIENT.id,
  RC_CLIENT_SECRET: CLIENT.secret,
  KEY_LIMIT_PER_MINUTE: '1000000',
  FROM_LIMIT_PER_MINUTE: '1000000',
  EXTENSION_LIMIT_PER_MINUTE: '1000000',
  PROVIDER_TIMEOUT: '2s',
  RECONCILE_SETTLE: '2s',
  RECONCILE_SETTLE_5XX: '500ms',
  LOG_LEVEL: 'warn',
}

/** Kills make many webhooks fail, which must not blacklist a subscription. */
const NEVER_BLACKLIST_MS = 86_400_000
const DRAIN_MS = 60_000
const SHOWN_MS = 30_000
/** The text of what came to the queues before the scenario. */
export const BEFORE = 'Before'
/** One number of so many belongs to a call queue, and one record of so many has numbers without `+`. */
const ONE_IN = 3

/** A simulator and a gateway, each in a process of its own, with one tenant, one app and connected extensions. */
export class TortureStage implements AsyncDisposable {
  key = ''
  readonly numbers: string[] = []

  private constructor(
    readonly folder: string,
    readonly simulator: SimulatorProcess,
    readonly gateway: GatewayProcess,
  ) {}

  get control() {
    return this.simulator.control
  }

  get databasePath(): string {
    return this.gateway.options.path
  }

  static async open(options: TortureStageOptions = {}): Promise<TortureStage> {
    const folder = mkdtempSync(join(tmpdir(), 'sgw-torture-'))
    const simulator = await startSimulatorProcess(join(folder, 'simulator.log'))
    const RC_EVENTS = process.env['RC_EVENTS'] ?? 'webhook'
    const RC_SERVER_URL = (await options.between?.(simulator.url)) ?? simulator.url
    const env = { ...ENVIRONMENT, RC_EVENTS, RC_SERVER_URL, ...options.env }
    const gateway = new GatewayProcess({
      port: freePort(),
      path: join(folder, 'sgw.db'),
      log: join(folder, 'gateway.log'),
      env,
    })
    const stage = new TortureStage(folder, simulator, gateway)
    try {
      await stage.#prepare(options)
      return stage
    } catch (error) {
      await stage[Symbol.asyncDispose]()
      throw error
    }
  }

  async #prepare({ extensions = 4, numbersPerExtension = 2, webhookUrl }: TortureStageOptions): Promise<void> {
    const numberForms = Array.from({ length: ONE_IN }, (_, at) => (at === 0 ? 'digits' : 'e164'))
    await this.control.configure({ blacklistAfterMs: NEVER_BLACKLIST_MS, numberForms })
    await this.gateway.start()
    const { tenantId } = await this.gateway.operator<{ tenantId: string }>('POST', 'tenants', { name: 'Torture' })
    const app = { tenantId, name: 'Torture', ...(webhookUrl === undefined ? {} : { webhookUrl }) }
    this.key = (await this.gateway.operator<{ apiKey: string }>('POST', 'apps', app)).apiKey
    for (let index = 0; index < extensions; index++) await this.#connect(index, numbersPerExtension)
    await this.#showQueues()
  }

  /** A start fills in what came to the queues: their messages have then been seen, so that a missing record proves something. */
  async #showQueues(): Promise<void> {
    for (const to of this.numbers.filter(isOfQueue)) await this.control.injectSms({ to, text: BEFORE, deliver: false })
    await this.gateway.end()
    await this.gateway.start()
    await eventually('A message of each queue', SHOWN_MS, async () => {
      const findings = await this.gateway.operator<{ check: string; ok: boolean; level: string }[]>('GET', 'doctor')
      return findings.find(({ check }) => check === 'numbers')?.level === 'ok' ? true : null
    })
  }

  /** Connects an extension as a browser does: link, consent, callback. */
  async #connect(index: number, numberCount: number): Promise<void> {
    const numbers = Array.from({ length: numberCount }, (_, at) => `+1555${String(5_550_000 + index * 100 + at)}`)
    const { extensionId } = await this.control.addExtension({
      name: `Extension ${index}`,
      numbers: numbers.filter((number) => !isOfQueue(number)),
    })
    await this.control.addQueue({ recipients: [extensionId], numbers: numbers.filter(isOfQueue) })
    await this.control.nextLogin({ extensionId })
    const { connectUrl } = (await (await this.call('POST', '/v1/rc/connect-token')).json()) as { connectUrl: string }
    const token = new URL(connectUrl, this.gateway.url).searchParams.get('token') ?? ''
    const body = new URLSearchParams({ token })
    const consent = await fetch(`${this.gateway.url}/v1/rc/connect`, { method: 'POST', body, redirect: 'manual' })
    const login = await fetch(consent.headers.get('location') ?? '', { redirect: 'manual' })
    const callback = await fetch(`${login.headers.get('location') ?? ''}&format=json`)
    if (!callback.ok) throw new Error(`The callback answered ${callback.status}: ${await callback.text()}`)
    this.numbers.push(...numbers)
  }

  /** Calls the API on a connection of its own. */
  call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.gateway.url}${path}`, {
      method,
      keepalive: false,
      signal: AbortSignal.timeout(15_000),
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  /** Resolves when no job and no open attempt is left. Returns the duration, or null if it takes over 60 s. */
  async drained(): Promise<number | null> {
    const startedAt = performance.now()
    const work = async (): Promise<true | null> => ((await this.#waiting()) === 0 ? true : null)
    return eventually('The drain', DRAIN_MS, work).then(
      () => performance.now() - startedAt,
      () => null,
    )
  }

  async #waiting(): Promise<number> {
    const { queue } = await this.gateway.operator<StatusReport>('GET', 'status')
    return Object.values(queue).reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway.end()
    this.simulator.program.signal('SIGKILL')
    await this.simulator.program.exited
    if (process.env['TORTURE_KEEP'] === undefined) rmSync(this.folder, { recursive: true, force: true })
  }
}

const isOfQueue = (number: string): boolean => Number(number) % ONE_IN === 0
