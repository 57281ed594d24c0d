import type { Clock } from '../../src/core/clock.ts'
import type { Config } from '../../src/core/config.ts'
import { type Ids, createIds } from '../../src/core/ids.ts'
import { silentLog } from '../../src/core/log.ts'
import type { Secrets } from '../../src/core/secrets.ts'
import { readsOf } from '../../src/db/database.ts'
import { openLists } from '../../src/db/lists/lists.ts'
import { createWriter } from '../../src/db/writer.ts'
import { type Gateway, buildGateway } from '../../src/gateway.ts'
import { Timers } from '../../src/jobs/timers.ts'
import type { Provider } from '../../src/provider/provider.ts'
import { recover, registerJobs, watchOrphans } from '../../src/worker.ts'
import { type Disk, type SimulatedGate, simulatedGate } from './disk.ts'
import type { Caller } from './provider-port.ts'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

/** One run of the process, from its start to its death. */
export interface Life extends Caller {
  bootId: string
  /** Wall-clock minus true time at the start: what its steady time is off by. */
  offset: number
  gateway: Gateway
  gate: SimulatedGate
  /** It has recovered and takes requests. */
  ready: boolean
}

export interface Surroundings {
  timeline: Timeline
  random: Random
  disk: Disk
  config: Config
  /** Wall-clock minus true time. */
  wallOffset(): number
  portFor(life: Life): Provider
}

/** Starts a process on what the disk holds; `failed` is told when it cannot start. */
export function startLife(around: Surroundings, failed: (life: Life) => void): Life {
  const { timeline, random, disk, config } = around
  const caller: Caller = { alive: true, pausedUntil: 0, penalties: new Map(), underWay: new Set() }
  const gate = simulatedGate(caller, disk, timeline, random)
  const defer = (run: () => void): void => void timeline.after(caller, 0, run)
  const ids: Ids = createIds((length) => random.bytes(length))
  const bootId = ids.of('boot')
  const life: Life = Object.assign(caller, {
    bootId,
    offset: around.wallOffset(),
    gate,
    ready: false,
    gateway: {} as Gateway,
  })
  life.gateway = buildGateway({
    config,
    encryptionKeys: [new Uint8Array(32)],
    secrets: plainSecrets,
    clock: clockOf(around, life),
    ids,
    log: silentLog,
    database: {
      gate,
      reads: readsOf(gate),
      writer: createWriter(gate, defer),
      lists: openLists(gate, null),
      migrated: [],
      close: () => Promise.resolve(),
    },
    provider: around.portFor(life),
    bootId,
    defer,
  })
  registerJobs(life.gateway)
  recover(life.gateway).then(
    () => begin(life),
    () => failed(life),
  )
  return life
}

function begin(life: Life): void {
  life.ready = true
  life.gateway.jobs.start()
  life.gateway.sending.start()
  watchOrphans(new Timers(life.gateway.clock, silentLog), life.gateway)
}

function clockOf({ timeline, wallOffset }: Surroundings, life: Life): Clock {
  const startedAt = timeline.now
  return {
    now: () => Math.floor(timeline.now + wallOffset()),
    steady: () => timeline.now + life.offset,
    monotonic: () => timeline.now - startedAt,
    after: (delayMs, callback) => timeline.after(life, delayMs, callback),
  }
}

/** The real ones work on other threads, which come back in no fixed order. */
export const plainSecrets: Secrets = {
  hash: (value) => `hash of ${value}`,
  hashes: (value) => [`hash of ${value}`],
  encrypt: (plaintext, context) => Promise.resolve(JSON.stringify({ ...context, plaintext })),
  decrypt: (encrypted) => Promise.resolve((JSON.parse(encrypted) as { plaintext: string }).plaintext),
  isCurrent: () => true,
  isKnown: () => true,
  keyId: 'plain',
}
