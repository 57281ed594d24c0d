import { until } from '../world.ts'
import type { StandbyNode } from './standby-node.ts'
import type { Takeovers } from './takeovers.ts'

// Faults around the lease: what was accepted without it, and what its old holder uploads late. Each resolves with the milliseconds until
// messages are accepted again.

/** How long a machine works alone. */
const MUCH_MS = 4000
/** Longer than RECONCILE_SETTLE, so that it sends what waited when it began. */
const LONG_MS = 15_000
const LITTLE_MS = 1000
/** Less than the 5 s after which a standby takes over. */
const UNSTORED_MS = 500
/** A person needs longer than this to notice an outage, and to let one machine continue. */
const OUTAGE_MS = 65_000
const LONE = { STANDBY: 'off', DURABILITY: 'disk' }

interface Choice {
  messages: { messageId: string }[]
}

/**
 * The holder dies before its last commits are stored, continues without the lease, and dies; the other one continues from the storage, and also
 * dies. Then a person chooses. `onFile`: how long the first one works alone. `onCopy`: the other one.
 */
async function fork(drill: Takeovers, onFile: number, onCopy: number, side: 'local' | 'copy'): Promise<number> {
  const { active: one, standby: two } = await drill.roles()
  await two.turnOff('SIGTERM')
  one.network.hold()
  await Bun.sleep(UNSTORED_MS)
  await one.turnOff('SIGKILL')
  one.network.goAway()
  one.network.release()
  drill.load.startOver()
  await one.deployment.command('lease', 'abandon', '--yes')
  await worksAlone(drill, one, LONE, onFile)
  one.network.comeBack()
  drill.load.startOver()
  drill.storageOf(two).bucket.get('sgw/lease.json').modifiedAt = new Date(Date.now() - OUTAGE_MS)
  await worksAlone(drill, two, {}, onCopy)
  drill.load.startOver()
  return choose(drill, one, side, [two])
}

async function worksAlone(
  drill: Takeovers,
  node: StandbyNode,
  settings: Record<string, string>,
  forMs: number,
): Promise<void> {
  const from = performance.now()
  node.turnOn(settings)
  await drill.acceptsAgain(from, null)
  await Bun.sleep(forMs)
  await node.turnOff('SIGKILL')
}

/** The start of this machine asks which history to continue. Then the others also start. */
async function choose(
  drill: Takeovers,
  node: StandbyNode,
  side: 'local' | 'copy',
  others: readonly StandbyNode[],
): Promise<number> {
  await refused(node, {}, 'sgw restore --choose local')
  const { messages } = await node.deployment.command<Choice>('restore', '--choose', side)
  drill.giveUp(messages.map(({ messageId }) => messageId))
  const from = performance.now()
  node.turnOn()
  const takenMs = await drill.acceptsAgain(from, null)
  for (const other of others) other.turnOn()
  return takenMs
}

async function refused({ deployment }: StandbyNode, settings: Record<string, string>, why: string): Promise<void> {
  const { code, stderr } = await deployment.enter(settings, 30)
  if (code !== 78 || !stderr.includes(why)) throw new Error(`Ended with ${code} instead of 78 "${why}":\n${stderr}`)
}

/** The holder is overtaken while its uploads hang, and dies. Its Litestream lives, and uploads the rest when the network is back. */
async function lateUpload(drill: Takeovers): Promise<number> {
  const { active } = await drill.roles()
  const [from, held] = [performance.now(), active.generation]
  active.network.hold()
  const takenMs = await drill.acceptsAgain(from, held)
  if (active.generation === held) active.deployment.signalGateway('SIGKILL')
  active.network.release()
  return takenMs
}

/** One machine is set back to a moment while the other one is lost. */
async function restoreToMoment(drill: Takeovers): Promise<number> {
  const { active, standby } = await drill.roles()
  await Bun.sleep(MUCH_MS)
  const moment = new Date().toISOString()
  drill.load.startOver()
  await Bun.sleep(MUCH_MS)
  await standby.turnOff('SIGTERM')
  await active.turnOff('SIGKILL')
  standby.deployment.loseVolume()
  await standby.deployment.command('restore', '--timestamp', moment)
  return choose(drill, standby, 'local', [active])
}

/** Beside the holder somebody starts the other machine without STANDBY, each way. */
async function startWithoutLease(drill: Takeovers): Promise<number> {
  const { standby } = await drill.roles()
  await standby.turnOff('SIGTERM')
  const from = performance.now()
  await refused(standby, LONE, 'holds the lease')
  await refused(standby, { STANDBY: 'off' }, 'holds the lease')
  const longestMs = drill.load.longestPauseSince(from)
  standby.turnOn()
  await until(async () => (await standby.status()) === 'standby', 30_000)
  return longestMs
}

export const FORKS = {
  'two histories, more on the copy that goes': (drill) => fork(drill, LITTLE_MS, MUCH_MS, 'local'),
  'two histories, more in the file that goes': (drill) => fork(drill, LONG_MS, LITTLE_MS, 'copy'),
  'late upload of a killed holder': lateUpload,
  'restore to a moment': restoreToMoment,
  'start without the lease': startWithoutLease,
} as const satisfies Record<string, (drill: Takeovers) => Promise<number>>
