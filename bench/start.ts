import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BASE_ENVIRONMENT } from '../test/support/environment.ts'
import { type Bench, type BenchOptions, type Row, shortened } from './bench.ts'
import { messageSender } from './gateway/accept-messages.ts'
import { BenchGateway } from './gateway/bench-gateway.ts'
import { THOUSAND_NUMBERS } from './gateway/numbers.ts'
import { pauseProvider } from './gateway/pause-provider.ts'
import { seed, untilIdle } from './gateway/seed.ts'
import { OURS, type Source } from './gateway/source.ts'
import { alternate, median } from './support/alternate.ts'
import { rssMib } from './support/process-figures.ts'
import { freePort } from '../test/support/program.ts'

const STARTS = 10
const IDLE_MS = 5000
const GIVE_UP_MS = 20_000
const MESSAGES = 1_000_000
const QUEUED = 10_000
/** After this time no message counts in a rate window, as in a gateway that has been idle. */
const LONGER_THAN_A_WINDOW_MS = 130_000

/** The fastest possible start: a Bun server that answers and does nothing else. */
const FLOOR = `Bun.serve({ port: Number(process.env.PORT), hostname: '127.0.0.1', fetch: () => new Response('ok') })`
/** With a provider's account, the gateway does not load the built-in simulator. */
const REAL_PROVIDER = {
  RC_CLIENT_ID: 'bench-client',
  RC_CLIENT_SECRET: 'bench-client-key',
  RC_SERVER_URL: 'http://127.0.0.1:9',
}

/** A form in which the gateway is delivered. */
interface Form {
  name: string
  command: readonly string[]
  folder: string
}

interface Case {
  form: Form
  database: string
  env(): Record<string, string>
  holds: string
}

interface Started {
  child: Bun.Subprocess
  /** From the spawn to the first 200 from /health. */
  tookMs: number
}

/**
 * The time from the start to the first answer, with a new, an existing and a big database, and the memory of an idle
 * server.
 */
export const start: Bench = {
  name: 'start',
  async run(options) {
    const folder = mkdtempSync(join(tmpdir(), 'sgw-bench-'))
    using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
    const ours = fromSource(OURS)
    const built = await build(join(folder, 'dist'))
    const others = options.sources.filter((source) => source !== OURS).map(fromSource)
    await using big = await openBigGateway(options)
    const ofBig = (form: Form): Case => ({ form, database: bigName(options), env: () => bigEnv(big), holds: '' })
    const cases = [
      { form: bare(folder), database: '', env: () => ({}), holds: '' },
      ...[ours, ...others].map((form) => onNew(form, folder)),
      ...[ours, built.executable, built.bundle, ...others].map((form) => onExisting(form, folder)),
      ...[ours, built.executable].map(ofBig),
    ]
    const rows = await startTimes(cases, shortened(options, STARTS))
    for (const form of [ours, built.bundle, built.executable])
      for (const one of idleCases(form, folder)) rows.push(await idleRss(one, form === ours ? '' : '≤ 70 MiB'))
    for (const form of [ours, built.bundle, built.executable]) rows.push(await idleRss(ofBig(form), ''))
    return rows
  },
}

const bare = (folder: string): Form => ({ name: 'bare Bun server', command: [process.execPath, '-e', FLOOR], folder })

const fromSource = ({ label, folder }: Source): Form => ({
  name: `${label}, from source`,
  command: [process.execPath, 'src/main.ts'],
  folder,
})

/** Builds the executable and the bundle from the working copy. */
async function build(dist: string): Promise<{ executable: Form; bundle: Form }> {
  const { label, folder } = OURS
  const child = Bun.spawn([process.execPath, 'scripts/build.ts', '--out', dist], { cwd: folder, stdout: 'ignore' })
  if ((await child.exited) !== 0) throw new Error('The build failed')
  const bundled = [process.execPath, join(dist, 'bundle/cli.js'), 'start']
  return {
    executable: { name: `${label}, executable`, command: [join(dist, 'sgw'), 'start'], folder },
    bundle: { name: `${label}, bundle of the image`, command: bundled, folder },
  }
}

const onNew = (form: Form, folder: string): Case => ({
  form,
  database: 'new database',
  env: () => databaseIn(mkdtempSync(join(folder, 'new-'))),
  holds: '≤ 25 × bare',
})

/** The uncounted start before the first round creates the database. */
function onExisting(form: Form, folder: string): Case {
  const env = databaseIn(mkdtempSync(join(folder, 'existing-')))
  const holds = form.name.endsWith('executable') ? '≤ 10 × bare' : '≤ 25 × bare'
  return { form, database: 'existing database', env: () => env, holds }
}

const idleCases = (form: Form, folder: string): Case[] => {
  const fresh = onNew(form, folder)
  const real = { ...fresh, database: 'real provider', env: () => ({ ...fresh.env(), ...REAL_PROVIDER }) }
  return [{ ...fresh, database: 'with the simulator' }, real]
}

const databaseIn = (folder: string): Record<string, string> => ({ DATABASE_URL: `file:${join(folder, 'sgw.db')}` })

/** Ends the gateway. Its simulator remains as the provider. */
async function openBigGateway(options: BenchOptions): Promise<BenchGateway> {
  const gateway = await BenchGateway.open(THOUSAND_NUMBERS)
  const send = messageSender(gateway)
  await pauseProvider(gateway, send)
  await send(QUEUED)
  await seed(gateway, { count: shortened(options, MESSAGES), share: 1 })
  await untilIdle(gateway)
  await Bun.sleep(shortened(options, LONGER_THAN_A_WINDOW_MS))
  await gateway.server.terminate()
  return gateway
}

const bigName = (options: BenchOptions): string => `${shortened(options, MESSAGES)} messages, ${QUEUED} queued`

const bigEnv = ({ server, port }: BenchGateway): Record<string, string> => ({
  ...server.environment,
  PORT: String(port),
})

async function startTimes(cases: readonly Case[], starts: number): Promise<Row[]> {
  const cpu = new Map<string, number[]>()
  const times = new Map<string, number[]>()
  const once = (one: Case) => async (): Promise<number> => {
    const { child, tookMs } = await startOne(one)
    await end(child)
    const cpuMs = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000
    cpu.set(nameOf(one), [...(cpu.get(nameOf(one)) ?? []), cpuMs])
    times.set(nameOf(one), [...(times.get(nameOf(one)) ?? []), tookMs])
    return tookMs
  }
  for (const one of cases) await end((await startOne(one)).child)
  const medians = await alternate(starts, Object.fromEntries(cases.map((one) => [nameOf(one), once(one)])))
  const [floor] = cases
  const floorMs = floor === undefined ? Number.NaN : (medians[nameOf(floor)] ?? Number.NaN)
  return cases.map((one) => {
    const name = nameOf(one)
    const tookMs = medians[name] ?? Number.NaN
    return {
      case: name,
      'median ms': Math.round(tookMs),
      'best ms': Math.round(Math.min(...(times.get(name) ?? []))),
      'worst ms': Math.round(Math.max(...(times.get(name) ?? []))),
      'CPU ms': Math.round(median(cpu.get(name) ?? [])),
      '÷ bare': (tookMs / floorMs).toFixed(1),
      holds: one.holds,
    }
  })
}

const nameOf = ({ form, database }: Pick<Case, 'form' | 'database'>): string =>
  [form.name, database].filter(Boolean).join(', ')

/** Works on Linux only. */
async function idleRss(one: Case, holds: string): Promise<Row> {
  const { child } = await startOne(one)
  try {
    await Bun.sleep(IDLE_MS)
    return { case: `idle after 5 s: ${nameOf(one)}`, 'RSS MiB': Math.round(rssMib(child.pid)), holds }
  } finally {
    await end(child)
  }
}

async function startOne({ form, env }: Pick<Case, 'form' | 'env'>): Promise<Started> {
  const given = env()
  const port = given['PORT'] ?? String(freePort())
  const started = performance.now()
  const child = Bun.spawn([...form.command], {
    cwd: form.folder,
    env: { ...BASE_ENVIRONMENT, HOME: process.env['HOME'], LOG_LEVEL: 'error', ...given, PORT: port },
    stdout: 'ignore',
    stderr: 'inherit',
  })
  while (performance.now() - started < GIVE_UP_MS) {
    // Without keep-alive, because a kept connection to an earlier server would cost a retry.
    const response = await fetch(`http://127.0.0.1:${port}/health`, { keepalive: false }).catch(() => null)
    if (response?.status === 200) return { child, tookMs: performance.now() - started }
    await Bun.sleep(2)
  }
  await end(child)
  throw new Error(`No answer within ${GIVE_UP_MS} ms`)
}

async function end(child: Bun.Subprocess): Promise<void> {
  child.kill('SIGKILL')
  await child.exited
}
