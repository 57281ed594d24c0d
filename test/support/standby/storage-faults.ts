import { until } from '../world.ts'
import type { Takeovers } from './takeovers.ts'

// Faults of the storage of the tests, and of the clocks beside it. Each resolves with the milliseconds until messages are accepted again.

const HOUR_MS = 3_600_000
const LIST_LAG_MS = 3000
const READ_LAG_MS = 4000
const LOST = 0.3
const WRONG_CLOCK_MS = 9000

/** The holder hands over while lists lack what was stored in the last seconds. */
async function listsLag(drill: Takeovers): Promise<number> {
  const { active } = await drill.roles()
  const { behaviour } = drill.storageOf(active)
  behaviour.listLagMs = LIST_LAG_MS
  await Bun.sleep(LIST_LAG_MS)
  const [from, given] = [performance.now(), active.generation]
  await active.deployment.command('lease', 'give')
  const takenMs = await drill.acceptsAgain(from, given)
  behaviour.listLagMs = 0
  return takenMs
}

/** For some seconds reads of the lease answer with an old version of it. */
async function readsLag(drill: Takeovers): Promise<number> {
  const { active } = await drill.roles()
  const { behaviour, bucket } = drill.storageOf(active)
  const key = bucket.keys.find((name) => name.endsWith('/lease.json')) ?? ''
  const older = bucket.get(key)
  const [from, holder] = [performance.now(), active.generation]
  behaviour.older = (asked) => (asked === key ? older : null)
  await Bun.sleep(READ_LAG_MS)
  behaviour.older = () => null
  return drill.acceptsAgain(from, holder)
}

/** Three requests of ten fail while the holder dies and the other one takes over. */
async function requestsLost(drill: Takeovers): Promise<number> {
  const { active } = await drill.roles()
  for (const storage of drill.storages ?? []) storage.loses = () => drill.random() < LOST
  const [from, lost] = [performance.now(), active.generation]
  await active.turnOff('SIGKILL')
  const takenMs = await drill.acceptsAgain(from, lost)
  for (const storage of drill.storages ?? []) storage.loses = () => false
  active.turnOn()
  return takenMs
}

/** The holder dies while the clock of the standby is wrong. The standby takes nothing until the clock is corrected. */
async function standbysClock(drill: Takeovers, aheadMs: number): Promise<number> {
  const { active, standby } = await drill.roles()
  const seen = drill.storageOf(standby)
  seen.aheadMs = -aheadMs
  await until(() => standby.outputs().includes('clock'), 20_000)
  const lost = active.generation
  await active.turnOff('SIGKILL')
  await Bun.sleep(WRONG_CLOCK_MS)
  if ((await standby.status()) !== 'standby') throw new Error(`It took over with a wrong clock:\n${drill.outputs()}`)
  seen.aheadMs = 0
  const from = performance.now()
  const takenMs = await drill.acceptsAgain(from, lost)
  active.turnOn()
  return takenMs
}

/** The clock of the holder jumps, and the storage refuses what it asks. */
async function holdersClock(drill: Takeovers, aheadMs: number): Promise<number> {
  const { active } = await drill.roles()
  const seen = drill.storageOf(active)
  const [from, wrong] = [performance.now(), active.generation]
  seen.aheadMs = -aheadMs
  const takenMs = await drill.acceptsAgain(from, wrong)
  seen.aheadMs = 0
  return takenMs
}

export const STORAGE_FAULTS = {
  'lists lag at a handover': listsLag,
  'reads of the lease lag': readsLag,
  '30 % of requests lost': requestsLost,
  'standby an hour ahead': (drill) => standbysClock(drill, HOUR_MS),
  'standby an hour behind': (drill) => standbysClock(drill, -HOUR_MS),
  'holder an hour ahead': (drill) => holdersClock(drill, HOUR_MS),
  'holder an hour behind': (drill) => holdersClock(drill, -HOUR_MS),
} as const satisfies Record<string, (drill: Takeovers) => Promise<number>>
