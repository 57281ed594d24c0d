import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Deployment } from '../deployment.ts'
import { DistantStorage } from '../distant-storage.ts'
import { PROJECT } from '../program.ts'
import { until } from '../world.ts'
import type { RemoteSimulator } from '../remote-simulator.ts'

export interface NodeOptions {
  /** The variables of the storage and of the gateway. LITESTREAM_ENDPOINT is the storage's address. */
  environment: Record<string, string>
  simulator: RemoteSimulator
  /** Between this machine and the storage. */
  roundTripMs: number
  /** Files that the gateway loads before its own. */
  preloads: readonly string[]
  /** The command of `sgw`, if it is of another version. */
  sgw?: string[] | undefined
  /** Makes the database of this path, before the first start. */
  fill?(path: string): Promise<void>
}

/** Between the end of a gateway and its next start, as `RestartSec=` of a systemd unit. */
const RESTART_MS = 300
const END_LIMIT_MS = 30_000
/** With it among the preloads, `pause` can be one that the gateway's clocks do not see. */
export const MACHINE_CLOCK = join(PROJECT, 'test/support/standby/preloads/machine-clock.ts')

/** With it among the preloads, a gateway can be of a later version, whose start migrates. */
export const NEXT_MIGRATIONS = join(PROJECT, 'test/support/standby/preloads/next-migrations.ts')

/** A machine with a gateway of a pair: a data folder, a network to the storage, and a supervisor that starts what has ended. */
export class StandbyNode implements AsyncDisposable {
  /** The exit codes of its gateways; null if a signal ended one. */
  readonly exits: (number | null)[] = []
  /** How many migrations its next gateway has more than this version. */
  nextMigrations = 0
  /** Variables of its next starts. */
  #settings: Record<string, string> = {}
  #isOn = true
  #isRunning = false
  #isOver = false
  #pausedMs = 0
  #before = ''
  readonly #supervising: Promise<void>

  private constructor(
    readonly deployment: Deployment,
    readonly network: DistantStorage,
  ) {
    this.#supervising = this.#supervise()
  }

  static async create({ environment, simulator, roundTripMs, preloads, sgw, fill }: NodeOptions): Promise<StandbyNode> {
    const network = await DistantStorage.start(environment['LITESTREAM_ENDPOINT'] ?? '', roundTripMs)
    const preload = preloads.map((path) => `--preload ${path}`).join(' ')
    const settings: Record<string, string> = {
      ...environment,
      LITESTREAM_ENDPOINT: network.url,
      BUN_OPTIONS: `--no-env-file ${preload}`.trim(),
    }
    const deployment = await Deployment.create(settings, simulator)
    if (sgw !== undefined) deployment.install(sgw)
    settings['SGW_MACHINE_PAUSES'] = join(deployment.folder, 'pauses')
    await fill?.(deployment.database)
    return new StandbyNode(deployment, network)
  }

  get url(): string {
    return this.deployment.url
  }

  /** Names the gateway that runs: another one after each end. */
  get generation(): string {
    return `${this.deployment.port} ${this.exits.length}`
  }

  /** What this gateway and the one before it have logged. */
  outputs = (): string => this.#before + this.deployment.output()

  /** The status of `/ready`: `ready`, `standby` or another one; null without an answer. */
  async status(): Promise<string | null> {
    const answer = await fetch(`${this.url}/ready`, { keepalive: false, signal: AbortSignal.timeout(1000) }).catch(
      () => null,
    )
    const body = (await answer?.json().catch(() => null)) as { status?: string } | null
    return answer?.ok === true ? 'ready' : (body?.status ?? null)
  }

  /** Ends all processes at once and starts the gateway again after `offMs`, with an empty disk if it was lost. */
  async crash(offMs: number, isDiskLost: boolean): Promise<void> {
    this.#isOn = false
    await this.deployment.killAll(this.exits.length % 2 === 0)
    if (isDiskLost) this.deployment.loseVolume()
    void Bun.sleep(offMs).then(() => (this.#isOn = true))
  }

  /** Ends the gateway, which does not start again until `turnOn`. SIGKILL ends all processes. */
  async turnOff(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#isOn = false
    if (signal === 'SIGKILL') await this.deployment.killAll(this.exits.length % 2 === 0)
    else this.deployment.signalGateway('SIGTERM')
    await until(() => !this.#isRunning, END_LIMIT_MS)
  }

  /** Starts it with these variables beside its own, now and after each end. */
  turnOn(settings: Record<string, string> = {}): void {
    this.#settings = settings
    this.#isOn = true
  }

  /** Stops all processes for a while. `isSeen`: their clocks see it, as after SIGSTOP. Else only the others' clocks do, as when a machine is paused. */
  async pause(pauseMs: number, isSeen: boolean): Promise<void> {
    const from = performance.now()
    this.deployment.signalAll('SIGSTOP')
    await Bun.sleep(pauseMs)
    if (!isSeen) this.#setPauses(this.#pausedMs + performance.now() - from)
    this.deployment.signalAll('SIGCONT')
  }

  #setPauses(pausedMs: number): void {
    this.#pausedMs = pausedMs
    writeFileSync(join(this.deployment.folder, 'pauses'), new Float64Array([pausedMs]), { flag: 'r+' })
  }

  async #supervise(): Promise<void> {
    writeFileSync(join(this.deployment.folder, 'pauses'), new Float64Array(1))
    while (!this.#isOver) {
      this.#setPauses(0)
      this.#isRunning = true
      const started = this.deployment.begin({
        SGW_NEXT_MIGRATIONS: String(this.nextMigrations),
        ...this.#settings,
      })
      this.exits.push(await started.ended())
      this.#isRunning = false
      this.#before = this.deployment.output()
      await Bun.sleep(RESTART_MS)
      while (!this.#isOn && !this.#isOver) await Bun.sleep(20)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    this.network.release()
    this.deployment.signalAll('SIGCONT')
    await this.deployment.terminate()
    await this.#supervising
    await this.deployment[Symbol.asyncDispose]()
    await this.network[Symbol.asyncDispose]()
  }
}
