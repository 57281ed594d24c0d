import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Sgw } from '../client/client.ts'
import { silentLog } from '../core/log.ts'
import { parseDuration } from '../core/duration.ts'
import { type Development, openDevelopment } from '../server/development/development.ts'
import { DATABASE, placeEmptyDatabase } from '../server/development/empty-database.ts'
import { NUMBERS } from '../server/development/prepare.ts'
import { readTestConfig } from '../server/development/test-mode.ts'
import { type TestPhone, createPhones } from './phone.ts'
import { type TestProvider, createProvider } from './provider.ts'

/** A gateway for tests, with a simulated provider and phones. */
export interface TestGateway extends AsyncDisposable {
  /** Base address of the API, without a trailing slash. */
  url: string
  /** The key of the gateway's app. */
  apiKey: string
  /** The gateway's own numbers: the `from` of messages. */
  numbers: string[]
  /** The typed client, with `url` and `apiKey`. */
  client: Sgw
  /** The phone with this number, E.164. The same number is always the same phone. */
  phone(number: string): TestPhone
  /** The simulated provider, which can be made to fail. */
  provider: TestProvider
  /**
   * Moves the time of the gateway and of the provider forward, and runs what becomes due: scheduled messages, retries,
   * expiries. `duration`: milliseconds, or text such as `90s`, `15m` or `24h`. Resolves when the gateway can receive again.
   */
  advance(duration: number | string): Promise<void>
  /** Stops the gateway and deletes its data, in less than half a second. */
  stop(): Promise<void>
}

export interface TestGatewayOptions {
  /** How the provider's events arrive. Default `webhook`; `websocket` as for a gateway without a public address. */
  events?: 'webhook' | 'websocket'
}

// A start loads these on demand. Loading them with the kit spares the first test that time.
await Promise.all([import('../server/app.ts'), import('../simulator/simulator.ts')])

/** Does not wait for work that still runs when a test ends. */
const DRAIN_MS = 100
/** Linux keeps this folder in memory. */
const MEMORY = '/dev/shm'
/** More than the data of any test. Docker gives 64 MB. */
const NEEDED_BYTES = 32_000_000

/**
 * Starts a gateway in this process, on a free port of 127.0.0.1 and with an empty database in a temporary folder. Several can run
 * side by side. It has no limits, and the provider delivers at once.
 *
 * @example
 * await using gateway = await startTestGateway()
 * const [from = ''] = gateway.numbers
 * await gateway.client.sms.send({ from, to: '+15555550199', body: 'Hello' })
 * await gateway.phone('+15555550199').waitFor('Hello')
 */
export async function startTestGateway({ events = 'webhook' }: TestGatewayOptions = {}): Promise<TestGateway> {
  const folder = temporaryFolder()
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    await placeEmptyDatabase(folder)
    return await start({ DATABASE_URL: `file:${join(folder, DATABASE)}`, RC_EVENTS: events }, remove)
  } catch (error) {
    remove()
    throw error
  }
}

async function start(settings: Record<string, string>, remove: () => void): Promise<TestGateway> {
  const values = { NODE_ENV: 'test', PORT: '0', ...settings }
  const result = readTestConfig({ values, readFile: () => '' })
  if (!result.ok) throw new Error(result.problems.join('\n'))
  const development = await openDevelopment({ config: result.config, log: silentLog, isTest: true })
  const { running, app } = development
  const stop = once(() => stopAll(development).finally(remove))
  try {
    const simulator = await development.connect()
    running.work()
    return {
      url: running.url,
      apiKey: app.apiKey,
      numbers: [...NUMBERS],
      client: new Sgw({ baseUrl: running.url, apiKey: app.apiKey, fetch: fetchDirectly }),
      phone: createPhones(simulator, NUMBERS[0] ?? ''),
      provider: createProvider(simulator.control),
      advance: async (duration) => development.advance?.(millisecondsOf(duration)),
      stop,
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Ignores proxies in the tests' environment. */
const fetchDirectly = (url: string, init: RequestInit): Promise<Response> => fetch(url, { ...init, proxy: false })

/** The simulator stops at once, so that the gateway need not wait for calls that hang. */
async function stopAll({ running, stopSimulator }: Development): Promise<void> {
  await Promise.all([running.stop(DRAIN_MS), stopSimulator()])
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null
  return () => (done ??= work())
}

function millisecondsOf(duration: number | string): number {
  const ms = typeof duration === 'number' ? duration : parseDuration(duration)
  if (ms === null || !(ms >= 0))
    throw new Error(`Cannot advance by ${duration}: give milliseconds or a duration such as 15m`)
  return ms
}

/**
 * Creates an empty folder, in memory if there is one with enough space, so that commits do not wait for a disk. Its
 * name has the id of the process.
 */
const temporaryFolder = (): string => mkdtempSync(join(isMemoryFree() ? MEMORY : tmpdir(), `sgw-kit-${process.pid}-`))

function isMemoryFree(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= NEEDED_BYTES
  } catch {
    return false
  }
}
