import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LITESTREAM } from './litestream.ts'
import { type Finished, PROJECT, LoggedProgram, finished, freePort } from './program.ts'
import { type RemoteSimulator, startRemoteSimulator } from './remote-simulator.ts'
import { until } from './world.ts'

export const NUMBER = '+15555550100'

/** A self-hosted deployment: entry point, Litestream, gateway, volume and backup storage, with a simulated provider. */
export class Deployment implements AsyncDisposable {
  readonly volume: string
  readonly replica: string
  readonly url: string
  #program: LoggedProgram | null = null
  #starts = 0
  readonly #storage: Record<string, string>
  key = ''

  private constructor(
    readonly folder: string,
    readonly simulator: RemoteSimulator,
    readonly port: number,
    /** The command of `sgw`. An upgrade changes it. */
    public sgw: string[],
    storage: Record<string, string> | undefined,
    readonly ownsSimulator: boolean,
  ) {
    this.volume = join(folder, 'volume')
    this.replica = join(folder, 'replica')
    this.url = `http://127.0.0.1:${port}`
    this.#storage = storage ?? { LITESTREAM_REPLICA_URL: `file://${this.replica}` }
    mkdirSync(join(folder, 'bin'))
    this.install(sgw)
  }

  /**
   * `storage`: the variables of the backup storage. Default: a folder. `shared`: a simulator that several deployments use and
   * that outlives this one.
   */
  static async create(storage?: Record<string, string>, shared?: RemoteSimulator): Promise<Deployment> {
    const folder = mkdtempSync(join(tmpdir(), 'sgw-deployment-'))
    const simulator = shared ?? (await startRemoteSimulator(join(folder, 'simulator.log')))
    const sgw = [process.execPath, join(PROJECT, 'src/cli.ts')]
    return new Deployment(folder, simulator, freePort(), sgw, storage, shared === undefined)
  }

  /** Puts a version of the program into the PATH. */
  install(command: string[]): void {
    this.sgw = command
    const path = join(this.folder, 'bin/sgw')
    writeFileSync(path, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(' ')} "$@"\n`)
    chmodSync(path, 0o755)
  }

  /** The id of the gateway's process, once the entry point has started it. */
  get pid(): number {
    return this.#program?.pid ?? 0
  }

  get database(): string {
    return join(this.volume, 'sgw.db')
  }

  readonly env = (): Record<string, string> => ({
    PATH: `${join(this.folder, 'bin')}:${process.env['PATH'] ?? ''}`,
    NODE_ENV: 'development',
    PORT: String(this.port),
    PUBLIC_URL: this.url,
    DATABASE_URL: `file:${this.database}`,
    ENCRYPTION_KEYS: KEY,
    RC_SERVER_URL: this.simulator.url,
    RC_CLIENT_ID: this.simulator.clientId,
    RC_CLIENT_SECRET: this.simulator.clientSecret,
    RECONCILE_SETTLE: '1s',
    KEY_LIMIT_PER_MINUTE: '1000000',
    FROM_LIMIT_PER_MINUTE: '1000000',
    EXTENSION_LIMIT_PER_MINUTE: '1000000',
    LITESTREAM_COMMAND: LITESTREAM,
    LITESTREAM_CONFIG: join(PROJECT, 'litestream.yml'),
    ...this.#storage,
  })

  /** Runs the entry point until the gateway serves. Returns the duration. */
  async start(extra: Record<string, string> = {}): Promise<number> {
    const startedAt = performance.now()
    await this.begin(extra).serving(`${this.url}/health`, 40_000)
    return performance.now() - startedAt
  }

  /** Runs the entry point, and waits for nothing. */
  begin(extra: Record<string, string> = {}): LoggedProgram {
    this.#program = new LoggedProgram({
      command: [join(PROJECT, 'deploy/entrypoint.sh')],
      env: { ...this.env(), ...extra },
      log: join(this.folder, `start-${++this.#starts}.log`),
    })
    return this.#program
  }

  /** Runs the entry point and kills all its processes after `afterMs`. */
  async startAndKill(afterMs: number, extra: Record<string, string> = {}): Promise<void> {
    const program = this.begin(extra)
    await Bun.sleep(afterMs)
    for (const pid of [program.pid, ...descendantsOf(program.pid)]) kill(pid)
    await program.ended()
  }

  /** Runs an entry point that is expected to end. If it serves instead, it is stopped with code 124. */
  enter(extra: Record<string, string>, withinSeconds = 20): Promise<Finished> {
    const command = ['timeout', '--kill-after=5', `${withinSeconds}`, join(PROJECT, 'deploy/entrypoint.sh')]
    return finished(command, { ...this.env(), ...extra })
  }

  /** Runs an operator's command. */
  async command<T>(...words: string[]): Promise<T> {
    const { code, stdout, stderr } = await finished(['sgw', '--json', ...words], this.env())
    if (code !== 0) throw new Error(`sgw ${words.join(' ')} ended with ${code}: ${stderr}${stdout}`)
    return JSON.parse(stdout) as T
  }

  /** Sends SIGKILL to Litestream and the gateway, in this order or the reverse. */
  async crash(gatewayFirst: boolean): Promise<void> {
    if (descendantsOf(this.pid).length === 0) throw new Error('Nothing runs that could be killed')
    await this.killAll(gatewayFirst)
  }

  /** Sends SIGKILL to the gateway and what it has started. */
  async killAll(gatewayFirst: boolean): Promise<void> {
    await killTree(this.pid, gatewayFirst)
    await this.#program?.ended()
  }

  /** Sends SIGKILL to Litestream. */
  killLitestream(): void {
    signalLitestream(this.pid, 'SIGKILL')
  }

  loseVolume(): void {
    rmSync(this.volume, { recursive: true, force: true })
  }

  /** Sends SIGTERM. Throws with the output if the exit code is not 0. */
  async stop(): Promise<void> {
    const code = await this.terminate()
    if (code !== 0) throw new Error(`The entry point ended with ${code}: ${this.output().slice(-3000)}`)
  }

  /** Sends a signal to the gateway alone. */
  signalGateway(name: NodeJS.Signals): void {
    this.#program?.signal(name)
  }

  /** Sends SIGTERM and returns the exit code. */
  async terminate(): Promise<number | null> {
    this.signalGateway('SIGTERM')
    return (await this.#program?.ended()) ?? null
  }

  /** Sends SIGTERM to all processes, as a supervisor does with a process group. Returns the exit code. */
  async terminateAll(): Promise<number | null> {
    this.signalAll('SIGTERM')
    return (await this.#program?.ended()) ?? null
  }

  /** Sends a signal to all processes, children first. */
  signalAll(name: NodeJS.Signals): void {
    for (const pid of [this.pid, ...descendantsOf(this.pid)].toReversed()) kill(pid, name)
  }

  output(): string {
    return this.#program?.output() ?? ''
  }

  call(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method,
      keepalive: false,
      headers: { authorization: `Bearer ${this.key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  /** Creates a tenant and an app and connects an extension, as the manual describes. */
  async connect(webhookUrl: string): Promise<void> {
    const { tenantId } = await this.command<{ tenantId: string }>('tenant', 'create', '--name', 'Night')
    const app = await this.command<{ apiKey: string }>(
      'app',
      'create',
      '--tenant',
      tenantId,
      '--name',
      'App',
      '--webhook-url',
      webhookUrl,
    )
    this.key = app.apiKey
    await this.simulator.control('addExtension', { name: 'Alice', numbers: [NUMBER] })
    const { connectUrl } = (await (await this.call('POST', '/v1/rc/connect-token')).json()) as { connectUrl: string }
    const token = connectUrl.split('token=')[1] ?? ''
    const consent = await fetch(`${this.url}/v1/rc/connect`, {
      method: 'POST',
      body: new URLSearchParams({ token }),
      redirect: 'manual',
    })
    const login = await fetch(consent.headers.get('location') ?? '', { redirect: 'manual' })
    const callback = await fetch(`${login.headers.get('location') ?? ''}&format=json`)
    if (!callback.ok) throw new Error(`The callback answered ${callback.status}: ${await callback.text()}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.terminate()
    if (this.ownsSimulator) await this.simulator.program.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** The key is not on the volume, as the manual says, so that a restored database can be decrypted. */
const KEY = crypto.getRandomValues(new Uint8Array(32)).toBase64()

/** Sends SIGKILL to a gateway and what it has started, and waits until nothing of it runs. */
export async function killTree(pid: number, gatewayFirst = true): Promise<void> {
  const others = descendantsOf(pid)
  const victims = gatewayFirst ? [pid, ...others] : [...others, pid]
  for (const victim of victims) kill(victim)
  await until(() => others.every((other) => !existsSync(`/proc/${other}/exe`)))
}

/** Sends a signal to the Litestream of a gateway. */
export function signalLitestream(pid: number, name: NodeJS.Signals): void {
  const [litestream] = descendantsOf(pid)
  if (litestream === undefined) throw new Error('Litestream does not run')
  kill(litestream, name)
}

/** Lets a process write no file beyond one byte, as on a full disk. */
export const fillDisk = (pid: number): unknown => Bun.spawnSync(['prlimit', '--pid', String(pid), '--fsize=1'])

/** Returns the descendants of a process, children first. */
function descendantsOf(pid: number): number[] {
  const children = threadsOf(pid).flatMap((thread) => read(`/proc/${pid}/task/${thread}/children`).trim().split(' '))
  const pids = children.map(Number).filter((child) => child > 1)
  return [...pids, ...pids.flatMap(descendantsOf)]
}

function threadsOf(pid: number): string[] {
  return existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : []
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Ignores a process that has ended in the meantime. */
function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has ended.
  }
}
