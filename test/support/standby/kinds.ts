import { Database } from 'bun:sqlite'
import type { StandbyNode } from './standby-node.ts'
import type { Takeovers } from './takeovers.ts'
import { UPGRADES } from './versions.ts'
import { FORKS } from './forks.ts'
import { STORAGE_FAULTS } from './storage-faults.ts'
import { diskFull, leasePutBack, litestreamHangs, litestreamKilled } from './useless-holders.ts'

/** A way in which the lease goes from one gateway to the other. Resolves with the milliseconds until messages are accepted again. */
type Takeover = (drill: Takeovers) => Promise<number>

/** Longer than a lease, shorter than the time a gateway waits for its storage. */
const PAUSE_MS = 8000
const AWAY_MS = 10_000
const BACK_MS = 1000
const STEP_LIMIT_MS = 30_000
/** How long a lost machine is off. Sometimes it is back before its lease has expired. */
const offMs = ({ random }: Takeovers): number => 1000 + random() * 8000

export const TAKEOVERS = {
  'kill -9': (drill) => crash(drill, false),
  'machine and disk lost': (drill) => crash(drill, true),
  SIGSTOP: (drill) => pause(drill, true),
  'machine paused': (drill) => pause(drill, false),
  'storage away for 10 s': storageAway,
  'network to the storage held': networkHeld,
  'killed again during the restore': (drill) => crashTwice(drill, STEPS.restore),
  'killed again after the restore': (drill) => crashTwice(drill, STEPS.restored),
  'killed again during the first copy': (drill) => crashTwice(drill, STEPS.firstCopy),
  'killed again during a migration': crashDuringMigration,
  'Litestream hangs': litestreamHangs,
  'Litestream killed': litestreamKilled,
  'disk full': diskFull,
  'an older lease put back': leasePutBack,
  SIGTERM: (drill) => handOver(drill, ({ deployment }) => deployment.signalGateway('SIGTERM')),
  'sgw lease give': giveLease,
  'lease given while the copy is behind': giveToCopyBehind,
} as const satisfies Record<string, Takeover>

/** Every fault of the drill. Those that are not takeovers need the tests' storage, and upgrades need a pair of an older version. */
export const FAULTS = { ...TAKEOVERS, ...FORKS, ...STORAGE_FAULTS, ...UPGRADES }
export type FaultKind = keyof typeof FAULTS

/** What a gateway logs at each step of its start. */
const STEPS = {
  restore: 'restoring',
  restored: 'the database was fetched',
  migration: '"step":"migrating"',
  migrated: 'database is up to date',
  firstCopy: 'making the first copy',
}

async function crash(drill: Takeovers, isDiskLost: boolean): Promise<number> {
  const { active } = await drill.roles()
  const [from, lost] = [performance.now(), active.generation]
  await active.crash(offMs(drill), isDiskLost)
  return drill.acceptsAgain(from, lost)
}

async function pause(drill: Takeovers, isSeen: boolean): Promise<number> {
  const { active } = await drill.roles()
  const [from, paused] = [performance.now(), active.generation]
  const resumed = active.pause(PAUSE_MS, isSeen)
  const takenMs = await drill.acceptsAgain(from, paused)
  await resumed
  return takenMs
}

/** Both gateways lose the storage. Whichever works afterward counts, from the storage's return on. */
async function storageAway(drill: Takeovers): Promise<number> {
  await drill.roles()
  for (const { network } of drill.nodes) network.goAway()
  await Bun.sleep(AWAY_MS)
  for (const { network } of drill.nodes) network.comeBack()
  return drill.acceptsAgain(performance.now(), null)
}

async function networkHeld(drill: Takeovers): Promise<number> {
  const { active } = await drill.roles()
  const [from, cut] = [performance.now(), active.generation]
  active.network.hold()
  const takenMs = await drill.acceptsAgain(from, cut)
  active.network.release()
  return takenMs
}

/**
 * The gateway that takes over is also killed, in this step of its start and before it logs `end`. By then, the first one is back, with an empty
 * disk.
 */
async function crashTwice(drill: Takeovers, step: string, end?: string): Promise<number> {
  const { active, standby } = await drill.roles()
  await active.crash(BACK_MS, true)
  await stepOf(standby, step)
  const [from, lost] = [performance.now(), standby.generation]
  await standby.crash(offMs(drill), false)
  const output = standby.deployment.output()
  if (end !== undefined && output.includes(end)) throw new Error(`Killed after "${step}" had ended:\n${output}`)
  return drill.acceptsAgain(from, lost)
}

/**
 * An upgrade that meets two crashes: the standby is of a later version when the gateway that works is lost, and is killed while it migrates
 * the copy. The first machine is back by then, with an empty disk and the later version.
 */
async function crashDuringMigration(drill: Takeovers): Promise<number> {
  const { standby } = await drill.roles()
  for (const node of drill.nodes) node.nextMigrations++
  await standby.crash(0, false)
  const takenMs = await crashTwice(drill, STEPS.migration, STEPS.migrated)
  const { active } = await drill.roles()
  const migrated = nextMigrationsIn(active)
  if (migrated !== active.nextMigrations)
    throw new Error(`${migrated} of ${active.nextMigrations} migrations are applied`)
  return takenMs
}

/** How many migrations of later versions the database has. The index is the last thing that each of them makes. */
function nextMigrationsIn({ deployment }: StandbyNode): number {
  using database = new Database(deployment.database, { readonly: true })
  const indexes = "SELECT count(*) AS n FROM sqlite_schema WHERE type = 'index' AND name LIKE 'messages_by_note_%'"
  return database.query<{ n: number }, []>(indexes).get()?.n ?? 0
}

/** Resolves as soon as the gateway has begun this step. Steps are short, so the log is read often. */
async function stepOf({ deployment }: StandbyNode, step: string): Promise<void> {
  const deadline = performance.now() + STEP_LIMIT_MS
  const before = deployment.output().length
  while (!deployment.output().slice(before).includes(step)) {
    if (performance.now() > deadline) throw new Error(`No "${step}" in the log: ${deployment.output().slice(before)}`)
    await Bun.sleep(2)
  }
}

async function handOver(drill: Takeovers, give: (active: StandbyNode) => unknown): Promise<number> {
  const { active } = await drill.roles()
  const [from, given] = [performance.now(), active.generation]
  await give(active)
  return drill.acceptsAgain(from, given)
}

function giveLease(drill: Takeovers): Promise<number> {
  return handOver(drill, ({ deployment }) => deployment.command('lease', 'give'))
}

/** The copy that the standby keeps ready has some of the load, and lacks what came since. */
async function giveToCopyBehind(drill: Takeovers): Promise<number> {
  await drill.untilFollowed()
  return giveLease(drill)
}
