import type { StandbyNode } from './standby-node.ts'
import type { Takeovers } from './takeovers.ts'

/** A way in which the lease goes from one gateway to the other. Resolves with the milliseconds until messages are accepted again. */
type Takeover = (drill: Takeovers) => Promise<number>

/** Longer than a lease, shorter than the time a gateway waits for its storage. */
const PAUSE_MS = 8000
const AWAY_MS = 10_000
const BACK_MS = 1000
const STEP_LIMIT_MS = 30_000
/** How long a lost machine is off. Sometimes it is back before its lease has expired. */
const offMs = (): number => 1000 + Math.random() * 8000

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
  SIGTERM: (drill) => handOver(drill, ({ deployment }) => deployment.signalGateway('SIGTERM')),
  'sgw lease give': (drill) => handOver(drill, ({ deployment }) => deployment.command('lease', 'give')),
} as const satisfies Record<string, Takeover>
export type TakeoverKind = keyof typeof TAKEOVERS

/** What a gateway logs at each step of its start. After the restore it migrates. */
const STEPS = { restore: 'restoring', restored: 'the database was fetched', firstCopy: 'making the first copy' }

async function crash(drill: Takeovers, isDiskLost: boolean): Promise<number> {
  const { active } = await drill.roles()
  const [from, lost] = [performance.now(), active.generation]
  await active.crash(offMs(), isDiskLost)
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

/** Both gateways lose the storage. Whichever works afterwards counts, from the storage's return on. */
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

/** The gateway that takes over is killed as well, in this step of its start. By then the first one is back, with an empty disk. */
async function crashTwice(drill: Takeovers, step: string): Promise<number> {
  const { active, standby } = await drill.roles()
  await active.crash(BACK_MS, true)
  await stepOf(standby, step)
  const [from, lost] = [performance.now(), standby.generation]
  await standby.crash(offMs(), false)
  return drill.acceptsAgain(from, lost)
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
