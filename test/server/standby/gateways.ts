import { join } from 'node:path'
import { Deployment, NUMBER, killTree } from '../../support/deployment.ts'
import { type Finished, LoggedProgram, PROJECT, finished, freePort } from '../../support/program.ts'
import { S3Stub } from '../../support/s3-stub.ts'
import { until } from '../../support/world.ts'

/** Several machines that share a storage and a configuration, each with its own folder and port. */
export class Gateways implements AsyncDisposable {
  readonly #machines: MachineOfGateway[] = []

  private constructor(
    readonly stub: S3Stub,
    readonly deployment: Deployment,
  ) {}

  static async create(stub = new S3Stub({ pageSize: 1000 })): Promise<Gateways> {
    return new Gateways(stub, await Deployment.create({ ...stub.environment(), ...SHARED }))
  }

  machine(name: string): MachineOfGateway {
    const machine = new MachineOfGateway(this.deployment, name)
    this.#machines.push(machine)
    return machine
  }

  /** What the lease object says. */
  get lease(): { epoch: number; holder: string; nonce: string } {
    return JSON.parse(new TextDecoder().decode(this.stub.bucket.get('sgw/lease.json').body))
  }

  /** Moves the time at which the lease was written last. Not a number: its answers have no valid time. */
  leaseWrittenAt(at: number): void {
    this.stub.bucket.get('sgw/lease.json').modifiedAt = new Date(at)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#machines.map((machine) => machine.kill()))
    await this.deployment[Symbol.asyncDispose]()
    await this.stub[Symbol.asyncDispose]()
  }
}

/** Two gateways behind one address: nobody asks for it here. */
const SHARED = {
  PUBLIC_URL: 'http://127.0.0.1:9',
  DURABILITY: 'replica',
  STANDBY: 'on',
  PROVIDER_TIMEOUT: '1s',
  RECONCILE_SETTLE: '6s',
  LOG_FORMAT: 'json',
}

const ENTRY_POINT = join(PROJECT, 'deploy/entrypoint.sh')

/** One of the machines. */
export class MachineOfGateway {
  readonly port = freePort()
  readonly url = `http://127.0.0.1:${this.port}`
  readonly folder: string
  readonly database: string
  #program: LoggedProgram | null = null
  #starts = 0

  constructor(
    readonly deployment: Deployment,
    readonly name: string,
  ) {
    this.folder = join(deployment.folder, name)
    this.database = join(this.folder, 'sgw.db')
  }

  env(extra: Record<string, string> = {}): Record<string, string> {
    return { ...this.deployment.env(), PORT: String(this.port), DATABASE_URL: `file:${this.database}`, ...extra }
  }

  start(extra: Record<string, string> = {}): void {
    const log = join(this.deployment.folder, `${this.name}-${++this.#starts}.log`)
    this.#program = new LoggedProgram({ command: [ENTRY_POINT], env: this.env(extra), log })
  }

  /** Runs an entry point that is expected to end. */
  enter(extra: Record<string, string> = {}): Promise<Finished> {
    return finished(['timeout', '--kill-after=5', '20', ENTRY_POINT], this.env(extra))
  }

  /** Starts it, and waits until `/ready` says so. */
  async startUntil(state: 'standby' | 'starting' | 'ready', extra: Record<string, string> = {}): Promise<void> {
    this.start(extra)
    await this.untilState(state)
  }

  async untilState(state: string): Promise<void> {
    await until(async () => (await this.state()) === state, 20_000).catch((error: unknown) => {
      throw new Error(`${this.name} does not become ${state}: ${this.output()}`, { cause: error })
    })
  }

  async state(): Promise<string | null> {
    const response = await fetch(`${this.url}/ready`, { keepalive: false }).catch(() => null)
    return response === null ? null : ((await response.json()) as { status: string }).status
  }

  call(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${this.deployment.key}` }
    return fetch(`${this.url}${path}`, { keepalive: false, headers, ...init })
  }

  /** Runs an operator's command on this machine. */
  sgw(...words: string[]): Promise<Finished> {
    return finished(['sgw', '--json', ...words], this.env())
  }

  async json<T>(...words: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.sgw(...words)
    if (code !== 0) throw new Error(`sgw ${words.join(' ')} ended with ${code}: ${stderr}${stdout}`)
    return JSON.parse(stdout) as T
  }

  /** Makes a tenant with an app and an extension, so that messages can be sent. */
  async connect(): Promise<void> {
    const { deployment } = this
    const { tenantId } = await this.json<{ tenantId: string }>('tenant', 'create', '--name', 'Night')
    const app = await this.json<{ apiKey: string }>('app', 'create', '--tenant', tenantId, '--name', 'App')
    deployment.key = app.apiKey
    await deployment.simulator.control('addExtension', { name: 'Alice', numbers: [NUMBER] })
    const { connectUrl } = (await (await this.call('/v1/rc/connect-token', { method: 'POST' })).json()) as {
      connectUrl: string
    }
    const body = new URLSearchParams({ token: connectUrl.split('token=')[1] ?? '' })
    const consent = await fetch(`${this.url}/v1/rc/connect`, { method: 'POST', body, redirect: 'manual' })
    const login = await fetch(consent.headers.get('location') ?? '', { redirect: 'manual' })
    const { pathname, search } = new URL(login.headers.get('location') ?? '')
    const callback = await fetch(`${this.url}${pathname}${search}&format=json`)
    if (!callback.ok) throw new Error(`The callback answered ${callback.status}: ${await callback.text()}`)
  }

  /** Sends messages with these texts, and returns their ids. Each must be accepted. */
  async send(...texts: string[]): Promise<string[]> {
    const ids: string[] = []
    for (const text of texts) {
      const body = JSON.stringify({ from: NUMBER, to: '+15557000001', body: text })
      const answer = await this.call('/v1/sms/send', { method: 'POST', body })
      if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`)
      ids.push(((await answer.json()) as { messageId: string }).messageId)
    }
    return ids
  }

  /** How many of these messages it does not know. */
  async missing(ids: readonly string[]): Promise<number> {
    const answers = await Promise.all(ids.map((id) => this.call(`/v1/sms/status/${id}`)))
    return answers.filter(({ status }) => status === 404).length
  }

  /** Resolves when each of these messages is `sent`. */
  async untilSent(ids: readonly string[]): Promise<void> {
    const statusOf = async (id: string): Promise<string> =>
      ((await (await this.call(`/v1/sms/status/${id}`)).json()) as { status: string }).status
    await until(async () => (await Promise.all(ids.map(statusOf))).every((status) => status === 'sent'), 60_000)
  }

  output(): string {
    return this.#program?.output() ?? ''
  }

  get pid(): number {
    return this.#program?.pid ?? 0
  }

  async stop(): Promise<number | null> {
    this.#program?.signal('SIGTERM')
    return this.ended()
  }

  async ended(): Promise<number | null> {
    return (await this.#program?.ended()) ?? null
  }

  /** Kills the gateway, whose Litestream makes a last copy and then ends. */
  async kill(): Promise<void> {
    await this.#program?.kill()
  }

  /** Kills the gateway and its Litestream, which copies nothing more. */
  async killAll(): Promise<void> {
    await killTree(this.pid)
    await this.ended()
  }
}
