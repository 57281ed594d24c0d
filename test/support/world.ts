import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { readConfig } from '../../src/core/config.ts'
import { type Log, createLog, silentLog } from '../../src/core/log.ts'
import { issueToken } from '../../src/api/rc/issue-token.ts'
import { startConnect } from '../../src/api/rc/connect.ts'
import type { Registered } from '../../src/api/apps/schemas.ts'
import type { Lease } from '../../src/core/lease.ts'
import type { Replica } from '../../src/db/replicated-gate.ts'
import { createApp } from '../../src/operator/apps.ts'
import { createTenant } from '../../src/operator/tenants.ts'
import { type RunningGateway, runGateway } from '../../src/server/run.ts'
import type { SimulatorControl } from '../../src/simulator/control.ts'
import { simulateProvider } from '../../src/server/development/simulated-provider.ts'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { placeEmptyDatabase } from './empty-database.ts'
import { folderInMemory } from './memory-folder.ts'

export const FROM = '+15555550100'
export const FROM_2 = '+15555550101'
export const TO = '+15555550199'
/** Production without a public address, as at home. */
export const HOME = { NODE_ENV: 'production', PUBLIC_URL: '', ENCRYPTION_KEYS: '' } as const
/** Long enough for a busy machine. Only a failing test waits that long. */
const PATIENCE_MS = 20_000

export interface WorldOptions {
  /** Additional environment variables. */
  env?: Record<string, string>
  clock?: Clock
  log?: Log
  /** Connects the simulator's extension to the first tenant. Default true, except in production. */
  connect?: boolean
  /** Starts the workers. Default true. */
  work?: boolean
  /** The provider is a separate simulator, used like a real provider. Always true in production. */
  outside?: boolean
  /** Prepares the separate simulator before the gateway starts. Returns more environment variables. */
  seed?: (control: SimulatorControl) => Record<string, string>
  /** Starts something between the gateway and a separate simulator. Returns its address. */
  between?: (simulatorUrl: string) => string
  /** Must have each commit before it is acknowledged. */
  replica?: Replica
  /** The lease that the gateway holds. */
  lease?: Lease
  /** An existing data folder, for a restart with the same database. */
  folder?: string
}

/** A gateway for one test: real HTTP on a free port, a real database file, and the simulator over real HTTP. */
export class World implements AsyncDisposable {
  constructor(
    readonly running: RunningGateway,
    readonly control: SimulatorControl,
    readonly folder: string,
    readonly app: Registered,
    readonly ownsFolder: boolean,
    /** Stopped with the world. Null if the test stops it. */
    readonly simulator: Simulator | null,
  ) {}

  get url(): string {
    return this.running.url
  }

  get gateway() {
    return this.running.gateway
  }

  get key(): string {
    return this.app.apiKey
  }

  get tenantId(): string {
    return this.app.tenantId
  }

  /**
   * Calls the API, by default with the first app's key (`key: null`: without one). A body that is not a string is sent
   * as JSON.
   */
  call(method: string, path: string, options: CallOptions = {}): Promise<Response> {
    const { key = this.key, body, headers = {} } = options
    return fetch(`${this.url}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  }

  async json<T = Record<string, unknown>>(
    method: string,
    path: string,
    options: CallOptions = {},
  ): Promise<{ status: number; body: T }> {
    const response = await this.call(method, path, options)
    return { status: response.status, body: (await response.json()) as T }
  }

  /** Sends an SMS and returns its id. */
  async send(
    message: Partial<{
      from: string
      to: string
      body: string
      userId: string
      sendAt: string
      mediaIds: string[]
    }> = {},
    options: CallOptions = {},
  ): Promise<string> {
    const response = await this.json<{ messageId: string }>('POST', '/v1/sms/send', {
      ...options,
      body: { from: FROM, to: TO, body: 'Hello', ...message },
    })
    if (response.status !== 202) throw new Error(`send answered ${response.status}: ${JSON.stringify(response.body)}`)
    return response.body.messageId
  }

  async status(messageId: string, options: CallOptions = {}): Promise<Record<string, unknown>> {
    return (await this.json('GET', `/v1/sms/status/${messageId}`, options)).body
  }

  /** Polls until the message has one of these states. Fails after `withinMs` of real time. */
  untilStatus(
    messageId: string,
    statuses: readonly string[] = ['sent', 'failed'],
    withinMs = PATIENCE_MS,
    options: CallOptions = {},
  ): Promise<Record<string, unknown>> {
    return until(async () => {
      const state = await this.status(messageId, options)
      return statuses.includes(String(state['status'])) ? state : null
    }, withinMs)
  }

  /** Creates another tenant with an app, not connected. */
  async otherTenant(name = 'Other'): Promise<Registered> {
    const { tenantId } = await createTenant(this.gateway, { name })
    return createApp(this.gateway, { tenantId, name: `${name} app`, webhookUrl: null, role: 'app' })
  }

  /** Creates another app of the first tenant. */
  secondApp(webhookUrl: string | null = null): Promise<Registered> {
    return createApp(this.gateway, { tenantId: this.tenantId, name: 'Second app', webhookUrl, role: 'app' })
  }

  /** Connects an extension as a browser does. Returns the response of the callback. */
  async connect(options: { tenantId?: string; extensionId?: string } = {}): Promise<Response> {
    if (options.extensionId !== undefined) this.control.nextLogin({ extensionId: options.extensionId })
    const { connectUrl } = await issueToken(this.gateway, { tenantId: options.tenantId ?? this.tenantId }, 'connect')
    const { url } = await startConnect(this.gateway, connectUrl.split('token=')[1], 'test')
    const login = await fetch(url, { redirect: 'manual' })
    const callback = new URL(login.headers.get('location') ?? '')
    return fetch(`${this.url}${callback.pathname}${callback.search}&format=json`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopped = this.running.stop()
    // Stopping the simulator ends hanging calls, so that the stop of the gateway does not wait for them.
    await this.simulator?.stop()
    await stopped
    if (this.ownsFolder) rmSync(this.folder, { recursive: true, force: true })
  }
}

export interface CallOptions {
  key?: string | null
  body?: unknown
  headers?: Record<string, string>
}

/** Builds a world: `await using world = await createWorld()`. */
export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const folder = options.folder ?? folderInMemory()
  const database = join(folder, 'sgw.db')
  if (options.env?.['DATABASE_URL'] === undefined) await placeEmptyDatabase(database)
  const production = options.env?.['NODE_ENV'] === 'production'
  const outside =
    (options.outside ?? (options.between !== undefined || options.seed !== undefined || production))
      ? await startSimulator({ clock: options.clock ?? systemClock, clientId: 'client', clientSecret: 'client-key' })
      : null
  const values = {
    NODE_ENV: 'test',
    PORT: '0',
    KEY_LIMIT_PER_MINUTE: '100000',
    DATABASE_URL: `file:${database}`,
    ...(outside === null ? {} : providerValues(options.between?.(outside.url) ?? outside.url)),
    ...(production ? productionValues() : {}),
    ...(outside === null ? {} : options.seed?.(outside.control)),
    ...options.env,
  }
  const config = readConfig({ values, readFile: () => '' })
  if (!config.ok) throw new Error(config.problems.join('\n'))
  const simulated = config.config.provider.simulated ? await simulateProvider(config.config) : null
  const running = await runGateway({
    config: simulated?.config ?? config.config,
    log: options.log ?? silentLog,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    ...(options.replica === undefined ? {} : { replica: options.replica }),
    ...(options.lease === undefined ? {} : { lease: options.lease }),
  })
  const simulator = (await simulated?.start(running.gateway.clock)) ?? outside
  if (simulator === null) throw new Error('Tests run against the simulator')
  const { control } = simulator
  if (outside === null) running.gateway.simulator = control
  // RingCentral's 3 s, in real time, are too short for a gateway on a busy machine.
  control.configure({ webhookTimeoutMs: PATIENCE_MS })
  control.addExtension({ name: 'Alice', numbers: [FROM, FROM_2] })
  const { tenantId } = await createTenant(running.gateway, { name: 'First' })
  const app = await createApp(running.gateway, { tenantId, name: 'First app', webhookUrl: null, role: 'app' })
  const world = new World(running, control, folder, app, options.folder === undefined, simulator)
  if (options.connect ?? !production) {
    const connected = await world.connect()
    if (!connected.ok) throw new Error(`connect answered ${connected.status}`)
  }
  if (options.work !== false) running.work()
  return world
}

const providerValues = (serverUrl: string): Record<string, string> => ({
  RC_SERVER_URL: serverUrl,
  RC_CLIENT_ID: 'client',
  RC_CLIENT_SECRET: 'client-key',
})

const productionValues = (): Record<string, string> => ({
  HOST: '127.0.0.1',
  PUBLIC_URL: 'https://sms.example.com',
  ENCRYPTION_KEYS: crypto.getRandomValues(new Uint8Array(32)).toBase64(),
})

/**
 * Polls until there is an answer. Fails after `withinMs` of real time. The pauses grow with the time waited: where `ask` advances a
 * manual clock, a busy machine must have the time for a call, or that call would time out again and again.
 */
export async function until<T>(
  ask: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  withinMs = PATIENCE_MS,
): Promise<T> {
  const startedAt = performance.now()
  for (let pauseMs = 1; ; pauseMs++) {
    const answer = await ask()
    if (answer !== null && answer !== undefined && answer !== false) return answer
    const waitedMs = performance.now() - startedAt
    if (waitedMs > withinMs) throw new Error(`Nothing came within ${withinMs} ms`)
    await Bun.sleep(Math.max(Math.min(pauseMs, 5), waitedMs / 20))
  }
}

/** A log whose lines a test can read. */
export function recordedLog(): { log: Log; lines: string[] } {
  const lines: string[] = []
  return { log: createLog({ level: 'debug', format: 'json', write: (line) => lines.push(line) }), lines }
}
