import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Row } from './row.ts'
import { alternate, median } from './support/alternate.ts'
import { fillDatabase } from './support/big-database.ts'
import { pauseProvider } from './support/pause-provider.ts'
import { rssMib } from './support/process-figures.ts'
import { freePort } from './torture/program.ts'
import { Stage } from './torture/stage.ts'

const ROOT = resolve(import.meta.dir, '..')
const STARTS = 10
const IDLE_MS = 5000
const GIVE_UP_MS = 20_000
const MESSAGES = 1_000_000
const QUEUED = 10_000
const FROM_SOURCE = [process.execPath, 'src/main.ts']
const GOAL = '≤ 130 → 60 ms'

/** What no start can beat: a server of Bun's that answers and does nothing else. */
const FLOOR = `Bun.serve({ port: Number(process.env.PORT), hostname: '127.0.0.1', fetch: () => new Response('ok') })`
/** Against a provider's account the built-in simulator is not loaded. */
const REAL_PROVIDER = {
  RC_CLIENT_ID: 'bench-client',
  RC_CLIENT_SECRET: 'bench-client-key',
  RC_SERVER_URL: 'http://127.0.0.1:9',
}

interface Started {
  child: Bun.Subprocess
  /** From the spawn to the first 200 of /health. */
  tookMs: number
}

/** Start to the first answer, on a new, an existing and a big database, in turn; and the memory of an idle server. */
async function benchStart(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sgw-bench-'))
  const env = (name: string): Record<string, string> => ({ DATABASE_URL: `file:${join(folder, name, 'sgw.db')}` })
  const { sgw, bundle } = await build(join(folder, 'dist'))
  let fresh = 0
  const idleRows = async (form: string, command: readonly string[]): Promise<Row[]> => [
    await idleRss(`idle after 5 s, with the simulator${form}`, env(`idle-${fresh++}`), command),
    await idleRss(`idle after 5 s, real provider${form}`, { ...env(`idle-${fresh++}`), ...REAL_PROVIDER }, command),
    await idleRss(`idle after 5 s, ${MESSAGES} messages, ${QUEUED} queued${form}`, environmentOf(stage), command),
  ]
  await using stage = await openBigStage()
  try {
    await end((await start(env('existing'))).child)
    return [
      ...(await startTimes({
        'bare Bun server': () => start({}, [process.execPath, '-e', FLOOR]),
        'new database': () => start(env(`fresh-${fresh++}`)),
        'existing database': () => start(env('existing')),
        'existing database, executable': () => start(env('existing'), [sgw, 'start']),
        'existing database, bundle of the image': () => start(env('existing'), [process.execPath, bundle, 'start']),
        [`${MESSAGES} messages, ${QUEUED} queued`]: () => start(environmentOf(stage)),
        [`${MESSAGES} messages, ${QUEUED} queued, executable`]: () => start(environmentOf(stage), [sgw, 'start']),
      })),
      ...(await idleRows('', FROM_SOURCE)),
      ...(await idleRows(', bundle of the image', [process.execPath, bundle, 'start'])),
      ...(await idleRows(', executable', [sgw, 'start'])),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What a release consists of, made from this source. */
async function build(dist: string): Promise<{ sgw: string; bundle: string }> {
  const child = Bun.spawn([process.execPath, 'scripts/build.ts', '--out', dist], { cwd: ROOT, stdout: 'ignore' })
  if ((await child.exited) !== 0) throw new Error('The build failed')
  return { sgw: join(dist, 'sgw'), bundle: join(dist, 'bundle/cli.js') }
}

/** The gateway of the stage is ended; its simulator stays as the provider. */
async function openBigStage(): Promise<Stage> {
  const stage = await Stage.open({ extensions: 1, numbersPerExtension: 1 })
  await pauseProvider(stage)
  await fillDatabase(stage, MESSAGES, QUEUED)
  return stage
}

/** On the address that the provider knows. */
function environmentOf(stage: Stage): Record<string, string> {
  const { port, path, env } = stage.gateway.options
  return { ...env, PORT: String(port), PUBLIC_URL: stage.gateway.url, DATABASE_URL: `file:${path}` }
}

async function startTimes(cases: Readonly<Record<string, () => Promise<Started>>>): Promise<Row[]> {
  const names = Object.keys(cases)
  const cpu = new Map<string, number[]>(names.map((name) => [name, []]))
  const times = new Map<string, number[]>(names.map((name) => [name, []]))
  const once = (name: string, startOne: () => Promise<Started>) => async (): Promise<number> => {
    const { child, tookMs } = await startOne()
    await end(child)
    times.get(name)?.push(tookMs)
    cpu.get(name)?.push(Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000)
    return tookMs
  }
  const turns = Object.entries(cases).map(([name, startOne]) => [name, once(name, startOne)] as const)
  const medians = await alternate(STARTS, Object.fromEntries(turns))
  return names.map((name, index) => ({
    case: name,
    'median ms': Math.round(medians[name] ?? 0),
    'best ms': Math.round(Math.min(...(times.get(name) ?? []))),
    'worst ms': Math.round(Math.max(...(times.get(name) ?? []))),
    'CPU ms': Math.round(median(cpu.get(name) ?? [])),
    'bar → aim': index === 0 ? '' : GOAL,
  }))
}

/** Linux only. */
async function idleRss(name: string, env: Record<string, string>, command: readonly string[]): Promise<Row> {
  const { child } = await start(env, command)
  try {
    await Bun.sleep(IDLE_MS)
    return { case: name, 'RSS MiB': Math.round(rssMib(child.pid)), 'bar → aim': '≤ 70 → 50 MiB' }
  } finally {
    await end(child)
  }
}

async function start(env: Record<string, string>, command: readonly string[] = FROM_SOURCE): Promise<Started> {
  const port = env['PORT'] ?? String(freePort())
  const started = performance.now()
  const child = Bun.spawn([...command], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], LOG_LEVEL: 'error', ...env, PORT: port },
    stdout: 'ignore',
    stderr: 'inherit',
  })
  while (performance.now() - started < GIVE_UP_MS) {
    // A connection of its own: one that an earlier server has left would cost a try.
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

export default { name: 'start', run: benchStart }

if (import.meta.main) console.table(await benchStart())
