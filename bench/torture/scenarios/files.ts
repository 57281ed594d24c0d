import { Database } from 'bun:sqlite'
import { copyFileSync, renameSync, rmSync, statSync, truncateSync } from 'node:fs'
import { savedCopies } from '../../../src/db/lost-database.ts'
import { type Findings, inspectSends } from '../inspection.ts'
import { SendLoad, distinctMessage } from '../load.ts'
import { startTortureProgram } from '../program.ts'
import { providerFaults } from '../provider-faults.ts'
import { type ScenarioOptions, between } from '../scenario.ts'
import { TortureStage } from '../stage.ts'

/** The gateway must say it within a minute. It looks every 5 s, and at the next message. */
const SAID_WITHIN_MS = 60_000
/** What has not been said by then has done no harm: the messages are counted at the end. */
const HARMLESS_AFTER_MS = 12_000

/** What somebody does to the files of the running gateway. */
const ACCIDENTS: Record<string, (path: string, random: () => number) => void> = {
  overwritten: (path) => copyFileSync(`${path}.older`, path),
  moved: (path) => renameSync(`${path}.older`, path),
  cut: (path, random) => truncateSync(`${path}-wal`, Math.floor(random() * statSync(`${path}-wal`).size)),
  emptied: (path) => truncateSync(`${path}-wal`, 0),
  deleted: (path) => ['', '-wal'].forEach((suffix) => rmSync(`${path}${suffix}`, { force: true })),
}

/** One accident, and how it ended. */
interface Round {
  accident: string
  /** How long the gateway went on accepting; null if it never said anything. */
  saidAfterMs: number | null
  /** Whether its advice has saved the data. */
  saved: boolean
}

/**
 * Overwrites, replaces, cuts and deletes the files of a gateway under load, and does what its texts say. Every acknowledged
 * message must be there afterward, or the gateway must have said that it cannot save it.
 */
export async function files(options: ScenarioOptions): Promise<Findings> {
  await using stage = await TortureStage.open()
  await stage.control.randomFaults(providerFaults(options.seed, false))
  const load = new SendLoad(stage, { message: distinctMessage(stage.numbers), senders: 4, pauseMs: 10 })
  const rounds: Round[] = []
  const forgiven = new Set<string>()
  for (let number = 1; number <= options.kills; number++) {
    rounds.push(await runRound(stage, load, options, forgiven))
    if (number % 10 === 0) options.report(`${number} accidents, ${load.accepted.size} messages acknowledged`)
  }
  await load.stop()
  await stage.control.clearFaults()
  const sends = await inspectSends(stage, load, { distinctTexts: true, forgiven })
  return { figures: { ...sends.figures, ...figuresOf(rounds) }, violations: [...sends.violations, ...late(rounds)] }
}

function figuresOf(rounds: readonly Round[]): Record<string, number> {
  const counts = Object.entries(Object.groupBy(rounds, ({ accident }) => accident))
  return {
    ...Object.fromEntries(counts.map(([accident, those]) => [accident, those?.length ?? 0])),
    'no harm, nothing said': rounds.filter(({ saidAfterMs }) => saidAfterMs === null).length,
    'said, and not saved': rounds.filter(({ saved }) => !saved).length,
    'longest until it was said ms': Math.round(Math.max(0, ...rounds.map(({ saidAfterMs }) => saidAfterMs ?? 0))),
  }
}

const late = (rounds: readonly Round[]): string[] =>
  rounds.flatMap(({ accident, saidAfterMs }) =>
    (saidAfterMs ?? 0) > SAID_WITHIN_MS ? [`${accident}: said after ${saidAfterMs} ms`] : [],
  )

async function runRound(
  stage: TortureStage,
  load: SendLoad,
  { random }: ScenarioOptions,
  forgiven: Set<string>,
): Promise<Round> {
  const path = stage.databasePath
  await Bun.sleep(between(random, 100, 800))
  const inBackup = new Set(load.accepted.keys())
  copyWhole(path, `${path}.backup`)
  if (random() < 0.5) copyFileSync(path, `${path}.older`)
  else copyWhole(path, `${path}.older`)
  await Bun.sleep(between(random, 0, 1200))
  const names = Object.keys(ACCIDENTS)
  const accident = names[Math.floor(random() * names.length)] ?? ''
  ACCIDENTS[accident]?.(path, random)
  const saidAfterMs = await untilSaid(load)
  const saved = saidAfterMs === null ? await restart(stage) : await follow(stage, random() < 0.5)
  if (!saved) for (const id of load.accepted.keys()) if (!inBackup.has(id)) forgiven.add(id)
  return { accident, saidAfterMs, saved }
}

/** Copies all that the database has while the gateway writes. Its file alone lacks what is in the log. */
function copyWhole(path: string, copy: string): void {
  rmSync(copy, { force: true })
  using database = new Database(path)
  database.run('PRAGMA busy_timeout = 5000')
  database.run('PRAGMA wal_autocheckpoint = 0')
  database.run('VACUUM INTO ?', [copy])
}

/** Resolves with the time until the gateway refuses messages. */
async function untilSaid(load: SendLoad): Promise<number | null> {
  const startedAt = performance.now()
  const refused = load.refused[503] ?? 0
  while (performance.now() - startedAt < HARMLESS_AFTER_MS) {
    if ((load.refused[503] ?? 0) > refused) return performance.now() - startedAt
    await Bun.sleep(10)
  }
  return null
}

async function restart(stage: TortureStage): Promise<true> {
  await stop(stage)
  await stage.gateway.start()
  return true
}

async function stop(stage: TortureStage): Promise<void> {
  const { code } = await stage.gateway.terminate()
  if (code !== 0) throw new Error(`The gateway's exit code was ${code}`)
}

/** Does what the texts of the gateway say. Returns whether the data is saved; if not, the backup is restored. */
async function follow(stage: TortureStage, withBackup: boolean): Promise<boolean> {
  const path = stage.databasePath
  const isSaved = withBackup && (await backUp(stage, `${path}.FILE`))
  await stop(stage)
  const copies = savedCopies(path)
  const source = isSaved ? `${path}.FILE` : copies.length > 0 ? await copyToMove(stage) : `${path}.backup`
  if (source !== null) {
    for (const suffix of ['-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
    renameSync(source, path)
    await stage.gateway.start()
  }
  for (const copy of copies) rmSync(copy, { force: true })
  return source !== `${path}.backup`
}

async function backUp(stage: TortureStage, copy: string): Promise<boolean> {
  rmSync(copy, { force: true })
  const { environment, options } = stage.gateway
  const program = startTortureProgram({ args: ['src/cli.ts', 'backup', copy], env: environment, log: options.log })
  return (await program.exited) === 0
}

/**
 * Starts the gateway, which must refuse, and returns the copy that it wants in place of the database. Null if it serves: then the database has
 * every message of the copy.
 */
async function copyToMove(stage: TortureStage): Promise<string | null> {
  const refusal = await stage.gateway.start().then(
    () => null,
    (error: unknown) => String(error),
  )
  if (refusal === null) return null
  const [, copy] = /a gateway saved (?:it )?as (\S+)/.exec(refusal) ?? []
  if (copy === undefined) throw new Error(`A start beside a saved copy: ${refusal}`)
  return copy
}
