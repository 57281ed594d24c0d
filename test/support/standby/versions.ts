import { join } from 'node:path'
import { PROJECT, finished } from '../program.ts'
import { until } from '../world.ts'
import type { StandbyNode } from './standby-node.ts'
import type { Takeovers } from './takeovers.ts'

// A pair that begins with an older version, and is upgraded one machine after the other. Each resolves with the milliseconds until messages
// are accepted again.

/** A holder reads each minute who stands by. */
const NOTICED_MS = 100_000

/** The command of `sgw` in a checkout. */
export const sgwOf = (folder: string): string[] => [process.execPath, join(folder, 'src/cli.ts')]

/** The standby first, then the holder hands over or is lost, then the other one. */
async function upgrade(drill: Takeovers, isKilled: boolean): Promise<number> {
  const { active, standby } = await drill.roles()
  await upgradeStandby(standby)
  const [from, old] = [performance.now(), active.generation]
  if (isKilled) await active.turnOff('SIGKILL')
  else await active.deployment.command('lease', 'give')
  const takenMs = await drill.acceptsAgain(from, old)
  await upgraded(active)
  await drill.roles()
  return takenMs
}

/** The other machine stays behind: both say so, and it does not take over from a newer one. Resolves from its upgrade on. */
async function olderStandby(drill: Takeovers): Promise<number> {
  const { active: behind, standby: newer } = await drill.roles()
  await upgradeStandby(newer)
  await behind.deployment.command('lease', 'give')
  await until(async () => (await newer.status()) === 'ready', 60_000)
  await until(async () => (await doctorOf(newer)).includes('could not take over'), NOTICED_MS)
  const lost = newer.generation
  await newer.turnOff('SIGKILL')
  await Bun.sleep(10_000)
  if ((await behind.status()) === 'ready') throw new Error(`An older version took over:\n${drill.outputs()}`)
  const from = performance.now()
  await upgraded(behind)
  const takenMs = await drill.acceptsAgain(from, lost)
  newer.turnOn()
  return takenMs
}

async function upgradeStandby(standby: StandbyNode): Promise<void> {
  await upgraded(standby)
  await until(async () => (await standby.status()) === 'standby', 30_000)
}

async function upgraded(node: StandbyNode): Promise<void> {
  node.deployment.install(sgwOf(PROJECT))
  await node.turnOff('SIGTERM')
  node.turnOn()
}

const doctorOf = async ({ deployment }: StandbyNode): Promise<string> =>
  (await finished(['sgw', '--json', 'doctor'], deployment.env())).stdout

export const UPGRADES = {
  '1.1.0 upgraded, handed over': (drill) => upgrade(drill, false),
  '1.1.0 upgraded after kill -9': (drill) => upgrade(drill, true),
  'older standby': olderStandby,
} as const satisfies Record<string, (drill: Takeovers) => Promise<number>>
