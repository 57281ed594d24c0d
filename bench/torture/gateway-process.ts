import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { PROJECT } from '../../test/support/program.ts'
import { type TortureProgram, eventually, startTortureProgram } from './program.ts'

export interface GatewayOptions {
  port: number
  /** The database file. */
  path: string
  log: string
  env: Record<string, string>
  /** The folder of the source code. Default: this project. */
  folder?: string
}

const START_MS = 20_000
const STOP_MS = 20_000

/** `bun src/main.ts` on one port and one database file. It can be started and ended many times. */
export class GatewayProcess {
  #program: TortureProgram | null = null
  readonly url: string

  constructor(readonly options: GatewayOptions) {
    this.url = `http://127.0.0.1:${options.port}`
  }

  get pid(): number | null {
    return this.#program?.pid ?? null
  }

  /** Starts the process without waiting until it serves. */
  spawn(): void {
    const { log, folder = PROJECT } = this.options
    const args = [...profiling(), 'src/main.ts']
    this.#program = startTortureProgram({ args, env: this.environment, log, folder })
  }

  /** The environment of the gateway and its command line. */
  get environment(): Record<string, string> {
    const { port, path, env } = this.options
    const own = { NODE_ENV: 'development', HOST: '127.0.0.1', PORT: String(port), DATABASE_URL: `file:${path}` }
    return { ...own, PUBLIC_URL: this.url, ...env }
  }

  async start(): Promise<void> {
    this.spawn()
    await this.serving()
  }

  /** Resolves when the gateway answers. Throws with its output if it has ended on its own. */
  async serving(): Promise<void> {
    await eventually('The start of the gateway', START_MS, async () => {
      this.#refuseEnded()
      const response = await fetch(`${this.url}/health`, { keepalive: false }).catch(() => null)
      return response?.ok === true ? true : null
    })
  }

  /** Sends SIGKILL. */
  async kill(): Promise<void> {
    this.#program?.signal('SIGKILL')
    await this.#program?.exited
    this.#program = null
  }

  /** Ends the process for the last time: by SIGKILL, or by SIGTERM if a profile must be written. */
  async end(): Promise<void> {
    if (profiling().length > 0) await this.terminate()
    else await this.kill()
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#program?.signal(name)
  }

  /** Sends SIGTERM. Returns the exit code (null after a signal) and the duration. */
  async terminate(): Promise<{ code: number | null; ms: number }> {
    const program = this.#program
    if (program === null) return { code: 0, ms: 0 }
    const startedAt = performance.now()
    program.signal('SIGTERM')
    const timer = setTimeout(() => program.signal('SIGKILL'), STOP_MS)
    const code = await program.exited
    clearTimeout(timer)
    this.#program = null
    return { code, ms: performance.now() - startedAt }
  }

  /** Calls an operator's endpoint over the Unix socket, as soon as it is there. */
  async operator<T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T> {
    const unix = `${this.options.path}.sock`
    await eventually("The operator's socket", START_MS, () => {
      this.#refuseEnded()
      return existsSync(unix) ? true : null
    })
    const init = { unix, method }
    const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) }
    const response = await fetch(`http://localhost/v1/operator/${path}`, sent)
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as T
  }

  /** Another program on the same port would answer `/health` in place of a gateway that could not start. */
  #refuseEnded(): void {
    if (this.#program?.hasEnded() !== true) return
    throw new Error(`The gateway has ended by itself: ${readFileSync(this.options.log, 'utf8').slice(-LOG_CHARACTERS)}`)
  }
}

const LOG_CHARACTERS = 2000

/** With `BENCH_PROFILE=<folder>`, every gateway that ends by SIGTERM writes a CPU profile there. */
function profiling(): string[] {
  const folder = process.env['BENCH_PROFILE'] ?? ''
  return folder === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(folder)}`]
}
