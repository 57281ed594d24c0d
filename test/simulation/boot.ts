import type { Clock } from '../../src/core/clock.ts'
import type { Config } from '../../src/core/config.ts'
import { type Ids, createIds } from '../../src/core/ids.ts'
import { silentLog } from '../../src/core/log.ts'
import type { Secrets } from '../../src/core/secrets.ts'
import { ormOf } from '../../src/db/orm.ts'
import { readerOf } from '../../src/db/reader.ts'
import { StoredEvents } from '../../src/db/stored-events.ts'
import { commitTo } from '../../src/db/replicated-gate.ts'
import { createWriter } from '../../src/db/writer.ts'
import { type Gateway, buildGateway } from '../../src/messages/gateway.ts'
import { Timers } from '../../src/messages/jobs/timers.ts'
import type { Provider } from '../../src/provider/provider.ts'
import { recover, registerJobs, watchOrphans } from '../../src/server/worker.ts'
import { type Disk, type SimulatedGate, simulatedGate } from './disk.ts'
import type { ProviderClient } from './simulated-provider-port.ts'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

/** One boot of the gateway, from its start to its end. */
export interface Boot extends ProviderClient {
  bootId: string
  /** The error of the wall clock at the start, which is the error of the steady clock. */
  offset: number
  gateway: Gateway
  gate: SimulatedGate
  /** It has recovered and accepts requests. */
  ready: boolean
}

export interface Surroundings {
  timeline: Timeline
  random: Random
  disk: Disk
  config: Config
  /** The error of the wall clock. */
  wallOffset(): number
  portFor(boot: Boot): Provider
}

/** Starts the gateway on the disk. `failed` is called if it cannot start. */
export function startBoot(around: Surroundings, failed: (boot: Boot) => void): Boot {
  const { timeline, random, disk, config } = around
  const client: ProviderClient = { alive: true, pausedUntil: 0, penalties: new Map(), underWay: new Set() }
  const gate = simulatedGate(client, disk, timeline, random)
  const defer = (run: () => void): void => void timeline.after(client, 0, run)
  const ids: Ids = createIds((length) => random.bytes(length))
  const writer = createWriter(commitTo(gate), defer)
  const bootId = ids.of('boot')
  const boot: Boot = Object.assign(client, {
    bootId,
    offset: around.wallOffset(),
    gate,
    ready: false,
    gateway: {} as Gateway,
  })
  boot.gateway = buildGateway({
    config,
    encryptionKeys: [new Uint8Array(32)],
    secrets: plainSecrets,
    clock: clockOf(around, boot),
    ids,
    log: silentLog,
    database: {
      gate,
      writer,
      orm: ormOf(gate, writer),
      storedEvents: new StoredEvents(false),
      untilStored: () => Promise.resolve(),
      reader: readerOf(gate),
      migrated: [],
      close: () => Promise.resolve(),
    },
    provider: around.portFor(boot),
    bootId,
    defer,
  })
  registerJobs(boot.gateway)
  recover(boot.gateway).then(
    () => begin(boot),
    () => failed(boot),
  )
  return boot
}

function begin(boot: Boot): void {
  boot.ready = true
  boot.gateway.jobs.start()
  boot.gateway.sending.start()
  watchOrphans(new Timers(boot.gateway.clock, silentLog), boot.gateway)
}

function clockOf({ timeline, wallOffset }: Surroundings, boot: Boot): Clock {
  const startedAt = timeline.now
  return {
    now: () => Math.floor(timeline.now + wallOffset()),
    steady: () => timeline.now + boot.offset,
    monotonic: () => timeline.now - startedAt,
    after: (delayMs, callback) => timeline.after(boot, delayMs, callback),
  }
}

/** Real encryption runs on other threads, whose results arrive in no fixed order. */
export const plainSecrets: Secrets = {
  hash: (value) => `hash of ${value}`,
  hashes: (value) => [`hash of ${value}`],
  encrypt: (plaintext, context) => Promise.resolve(JSON.stringify({ ...context, plaintext })),
  decrypt: (encrypted) => Promise.resolve((JSON.parse(encrypted) as { plaintext: string }).plaintext),
  isCurrent: () => true,
  isKnown: () => true,
  keyId: 'plain',
}
