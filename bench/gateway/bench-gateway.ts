import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BASE_ENVIRONMENT } from '../../test/support/environment.ts'
import { GatewayProcess } from '../torture/gateway-process.ts'
import type { ProviderHandle } from '../rivals/provider-process.ts'
import { freePort } from '../../test/support/program.ts'
import { eventually } from '../torture/program.ts'
import { CLIENT, type SimulatorProcess, startSimulatorProcess } from '../torture/simulator-process.ts'
import { connectExtensions } from './connect.ts'
import { OURS, type Source } from './source.ts'

export interface BenchGatewayOptions {
  source?: Source
  extensions?: number
  numbersPerExtension?: number
  env?: Record<string, string>
  /** Accepts the messages and forwards all other calls to the simulator. If absent, the simulator accepts the messages. */
  provider?: Pick<ProviderHandle, 'url' | 'forwardTo'>
  /** Called with the pid of every started gateway process. */
  started?: (pid: number) => void
}

/** A bench would exceed the limits of a tenant in production. */
const NO_LIMIT = '1000000000'
const ENVIRONMENT = {
  RC_CLIENT_ID: CLIENT.id,
  RC_CLIENT_SECRET: CLIENT.secret,
  KEY_LIMIT_PER_MINUTE: NO_LIMIT,
  FROM_LIMIT_PER_MINUTE: NO_LIMIT,
  EXTENSION_LIMIT_PER_MINUTE: NO_LIMIT,
  LOG_LEVEL: 'warn',
}
const DRAIN_MS = 300_000
const CALL_MS = 15_000

/**
 * The gateway of any commit with a simulator of its own, one tenant, one app and connected extensions. A bench controls it
 * only through `src/main.ts`, the command line `src/cli.ts` and the API, so that older and newer commits work alike.
 */
export class BenchGateway implements AsyncDisposable {
  tenantId = ''
  appId = ''
  key = ''

  private constructor(
    readonly source: Source,
    readonly folder: string,
    readonly simulator: SimulatorProcess,
    readonly server: GatewayProcess,
    readonly started: (pid: number) => void,
  ) {}

  static async open(options: BenchGatewayOptions = {}): Promise<BenchGateway> {
    const { source = OURS, started = () => undefined } = options
    const folder = mkdtempSync(join(tmpdir(), 'sgw-bench-'))
    const simulator = await startSimulatorProcess(join(folder, 'simulator.log'))
    await options.provider?.forwardTo(simulator.url)
    const server = new GatewayProcess({
      port: freePort(),
      path: join(folder, 'sgw.db'),
      log: join(folder, 'gateway.log'),
      env: { ...ENVIRONMENT, RC_SERVER_URL: options.provider?.url ?? simulator.url, ...options.env },
      folder: source.folder,
    })
    const gateway = new BenchGateway(source, folder, simulator, server, started)
    try {
      await gateway.start()
      await gateway.#prepare(options)
      return gateway
    } catch (error) {
      await gateway[Symbol.asyncDispose]()
      throw error
    }
  }

  get port(): number {
    return this.server.options.port
  }

  get pid(): number {
    return this.server.pid ?? 0
  }

  get databasePath(): string {
    return this.server.options.path
  }

  async start(): Promise<void> {
    this.server.spawn()
    this.started(this.pid)
    await this.server.serving()
  }

  /** Calls the API with the app's key, on a connection of its own. Throws on any answer but 2xx. */
  async call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(`${this.server.url}${path}`, {
      method,
      keepalive: false,
      signal: AbortSignal.timeout(CALL_MS),
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
    return (await response.json()) as Answer
  }

  /** Runs an operator's command: `sgw …words --json`. */
  async command<Answer>(...words: string[]): Promise<Answer> {
    const child = Bun.spawn([process.execPath, 'src/cli.ts', ...words, '--json'], {
      cwd: this.source.folder,
      env: { ...BASE_ENVIRONMENT, HOME: process.env['HOME'] ?? '', ...this.server.environment },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    if ((await child.exited) !== 0) throw new Error(`sgw ${words.join(' ')}: ${errors.trim()}`)
    return JSON.parse(output) as Answer
  }

  /** Resolves when no job and no open attempt is left. */
  async drained(): Promise<void> {
    await eventually('The drain', DRAIN_MS, async () => ((await this.#waiting()) === 0 ? true : null))
  }

  async #waiting(): Promise<number> {
    const { queue } = await this.command<{ queue: Record<string, unknown> }>('status')
    return Object.values(queue).reduce<number>((sum, count) => sum + (typeof count === 'number' ? count : 0), 0)
  }

  async #prepare({ extensions = 1, numbersPerExtension = 1 }: BenchGatewayOptions): Promise<void> {
    this.tenantId = (await this.command<{ tenantId: string }>('tenant', 'create', '--name', 'Bench')).tenantId
    const app = ['app', 'create', '--tenant', this.tenantId, '--name', 'Bench']
    const { appId, apiKey } = await this.command<{ appId: string; apiKey: string }>(...app)
    Object.assign(this, { appId, key: apiKey })
    const target = { url: this.server.url, key: apiKey, control: this.simulator.control }
    await connectExtensions(target, extensions, numbersPerExtension)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.end()
    this.simulator.program.signal('SIGKILL')
    await this.simulator.program.exited
    rmSync(this.folder, { recursive: true, force: true })
  }
}
