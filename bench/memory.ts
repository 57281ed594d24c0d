import type { Row } from './row.ts'
import { peakRssMib, rssMib } from './support/process-figures.ts'
import { pauseProvider } from './support/pause-provider.ts'
import { acceptMessages } from './support/send-requests.ts'
import { Stage } from './torture/stage.ts'

/** `--long`: the numbers of the goal, for a quarter of an hour and more. Without it, a fifth and a tenth of them. */
const SENDS = process.argv.includes('--long') ? ([100_000, 1_000_000] as const) : ([20_000, 100_000] as const)
const QUEUED = 100_000
/** Accepted before the queue is waited for: a backlog would be measured too. */
const SENDS_PER_STEP = 2000
const IDLE_MS = 5000
const STAGE = { extensions: 1, numbersPerExtension: 1 }

/** RSS of an idle gateway, after many sends, and with many messages that cannot be sent. */
async function benchMemory(): Promise<Row[]> {
  return [...(await sendsRows()), ...(await queuedRows())]
}

async function sendsRows(): Promise<Row[]> {
  await using stage = await Stage.open(STAGE)
  const [few, many] = SENDS
  await Bun.sleep(IDLE_MS)
  const rows = [row(stage, 'idle, 1 extension', '≤ 70 → 50 MiB')]
  await send(stage, 0, few)
  const first = row(stage, `after ${few} sends`, '')
  await send(stage, few, many)
  const last = row(stage, `after ${many} sends`, '≤ 2 → 1.3 × the row above')
  return [...rows, first, { ...last, ratio: (Number(last['RSS MiB']) / Number(first['RSS MiB'])).toFixed(2) }]
}

async function send(stage: Stage, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += SENDS_PER_STEP) {
    await acceptMessages(stage, at, Math.min(at + SENDS_PER_STEP, to))
    if ((await stage.drained()) === null) throw new Error('The gateway did not send what it had accepted')
  }
  await Bun.sleep(IDLE_MS)
}

/** The provider refuses for as long as an hour: the extension is paused and its messages wait. */
async function queuedRows(): Promise<Row[]> {
  await using stage = await Stage.open(STAGE)
  await pauseProvider(stage)
  for (let at = 0; at < QUEUED; at += SENDS_PER_STEP) await acceptMessages(stage, at, at + SENDS_PER_STEP)
  await Bun.sleep(IDLE_MS)
  const queued = row(stage, `${QUEUED} queued`, '≤ 150 MiB')
  await stage.gateway.kill()
  await stage.gateway.start()
  await Bun.sleep(IDLE_MS)
  return [queued, row(stage, `${QUEUED} queued, started anew`, '≤ 150 MiB')]
}

function row(stage: Stage, name: string, goal: string): Row {
  const pid = stage.gateway.pid ?? 0
  return {
    case: name,
    'RSS MiB': Math.round(rssMib(pid)),
    'highest RSS MiB': Math.round(peakRssMib(pid)),
    'bar → aim': goal,
  }
}

export default { name: 'memory', run: benchMemory }

if (import.meta.main) console.table(await benchMemory())
