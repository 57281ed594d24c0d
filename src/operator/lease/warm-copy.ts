import { renameSync } from 'node:fs'
import { type Log, errorName } from '../../core/log.ts'
import { sizeOf } from '../../db/data-folder.ts'
import { inspect, progressOf, removeFilesNamed } from '../backup/database-copy.ts'
import { type Follower, follow, followedUpTo } from '../backup/follower.ts'
import type { BackupSettings } from '../backup/settings.ts'
import { Fault } from '../doctor/fault.ts'
import { settingsOfEpoch } from './epochs.ts'
import { type SeenLease, writerOf } from './lease-object.ts'

/** Each check lists the newest files and reads the new ones. While a standby waits, the active gateway stores something at least every 5 s. */
const LOOK_EVERY_MS = 10_000
const CATCH_UP_EVERY_MS = 50
/**
 * When nobody renews the lease, a takeover is likely, and a check each second leaves it little to read. If no takeover comes, a standby is
 * waiting for a person.
 */
const HURRY_AFTER_MS = 2000
const HURRY_UNTIL_MS = 15_000
const HURRY_EVERY_MS = 1000
/** A holder that was overtaken may still upload while a copy catches up. */
const MAX_CATCH_UPS = 3
/** Measured. A transaction is a read and two flushes, one after the other; a restore reads 32 files at a time. */
const TRANSACTION_MS = 8
const RESTORE_MS = 300
const RESTORE_MS_PER_MB = 11
/** How long a takeover waits for a copy that makes no progress. A follower that starts lists all levels, and a lost request costs it a second. */
const PATIENCE_MS = 10_000
const LOOK_AT_PROGRESS_MS = 20
/** The pause after a copy could not be made or kept, for example because the disk is full. */
const TRY_AGAIN_MS = 300_000

/** A copy that Litestream keeps. */
interface Followed {
  epoch: number
  /** Identifies what this copies: one process writes the folder of an epoch. */
  source: string
  settings: BackupSettings
  file: string
  follower: Follower
  everyMs: number
}

const NOT_STARTED: Follower = { ended: Promise.resolve(''), kill: () => Promise.resolve() }

/**
 * A standby's local copy of what the active gateway has stored. It saves a takeover the time of a restore, and decides nothing: a copy that is
 * not exactly at the requested transaction is discarded.
 */
export class WarmCopy {
  #followed: Followed | null = null
  /** Why there is no copy; null if there is one, or may be soon. */
  #problem: string | null = null
  /** Monotonic time before which no new copy begins. */
  #pausedUntil = 0
  /** Prefix of the names of all copies. Each copy has its own name, because the follower of a killed process may still write one. */
  readonly #names: string

  constructor(
    readonly settings: BackupSettings,
    readonly log: Log,
  ) {
    this.#names = `${settings.databasePath}.following-`
    removeFilesNamed(this.#names)
  }

  /**
   * Call it after each read of the lease, with the time since the lease last changed. Keeps a copy of the lease's epoch as soon as the epoch has
   * one.
   */
  note(lease: SeenLease | null, unchangedMs: number): void {
    const source = lease === null || lease.content.copied !== lease.content.epoch ? null : lease
    const name = source === null ? null : `${source.content.epoch} ${writerOf(source)}`
    if (this.#followed !== null && this.#followed.source !== name) void this.stop()
    const isOverdue = unchangedMs >= HURRY_AFTER_MS && unchangedMs < HURRY_UNTIL_MS
    if (this.#followed !== null) void this.#look(this.#followed, isOverdue ? HURRY_EVERY_MS : LOOK_EVERY_MS)
    else if (source !== null && name !== null && performance.now() >= this.#pausedUntil)
      this.#begin(source.content.epoch, name)
  }

  async #look(followed: Followed, everyMs: number): Promise<void> {
    const { follower } = followed
    if (followed.everyMs === everyMs || followedUpTo(followed.file) === null) return
    await follower.kill()
    // Never two at the same time: a takeover kills only the one it knows.
    if (this.#followed === followed && followed.follower === follower) this.#start(followed, everyMs)
  }

  #begin(epoch: number, source: string): void {
    const settings = settingsOfEpoch(this.settings, epoch)
    const file = this.#names + crypto.randomUUID().slice(0, 8)
    const followed = { epoch, source, settings, file, follower: NOT_STARTED, everyMs: 0 }
    this.#followed = followed
    this.#problem = null
    this.#start(followed, LOOK_EVERY_MS)
  }

  #start(followed: Followed, everyMs: number): void {
    try {
      followed.follower = follow(followed.settings, followed.file, everyMs)
      followed.everyMs = everyMs
      void followed.follower.ended.then((reason) => {
        if (this.#followed === followed) this.#giveUp(reason)
      })
    } catch (error) {
      this.#giveUp(errorName(error))
    }
  }

  #giveUp(reason: string): void {
    this.log.warn({ reason }, 'no copy of the database is kept ready, trying again in 5 minutes')
    this.#problem = reason
    this.#pausedUntil = performance.now() + TRY_AGAIN_MS
    void this.stop()
  }

  /** What the operator should know about the copy. Errors: `Fault`. */
  describe(): string {
    if (this.#problem !== null)
      throw new Fault(`none is kept ready (${this.#problem}): a takeover would fetch the whole database`, 'warn')
    const followed = this.#followed
    const reached = followed === null ? null : followedUpTo(followed.file)
    return reached === null ? 'none yet' : `of epoch ${followed?.epoch}, up to transaction ${reached} so far`
  }

  /**
   * Moves the copy of an epoch to `target` if it is exactly at the transaction that `newest` names. Returns how many messages it has; null if
   * there is no such copy. Errors: those of `newest`.
   */
  async take(epoch: number, target: string, newest: () => Promise<string | null>): Promise<number | null> {
    const followed = this.#followed
    if (followed === null) return null
    this.#followed = null
    try {
      const why = followed.epoch === epoch ? await catchUp(followed, newest) : `it is of epoch ${followed.epoch}`
      const { integrity, rows } = why === null ? inspect(followed.file) : { integrity: why, rows: 0 }
      if (integrity !== 'ok') {
        this.log.warn({ reason: integrity }, 'the copy that was kept ready is discarded')
        return null
      }
      renameSync(followed.file, target)
      this.log.info({ epoch, transaction: followedUpTo(followed.file) }, 'the copy that was kept ready is used')
      return rows
    } finally {
      await end(followed)
    }
  }

  /** Ends the follower, and removes the copy. */
  async stop(): Promise<void> {
    const followed = this.#followed
    this.#followed = null
    if (followed !== null) await end(followed)
  }
}

async function end({ follower, file }: Followed): Promise<void> {
  await follower.kill()
  removeFilesNamed(file)
}

/** Returns why the copy cannot be brought to the transaction that `newest` names; null if it is there. */
async function catchUp(followed: Followed, newest: () => Promise<string | null>): Promise<string | null> {
  // A first restore is ahead of one that would start now, so it may be silent for as long as that.
  await hasReached(followed, ANY, followed.settings.timeoutMs)
  if (followed.everyMs === HURRY_EVERY_MS) await letGoOn(followed, await newest())
  for (let times = 0; ; times++) {
    await followed.follower.kill()
    // Not earlier: a follower may be in the middle of a file that it has not recorded yet. It cannot have read what the storage does not have now.
    const wanted = await newest()
    const has = followedUpTo(followed.file)
    if (has !== null && has === wanted) return null
    if (has === null || wanted === null || has > wanted) return `it has transaction ${has}, and the storage ${wanted}`
    if (times === MAX_CATCH_UPS) return `it has transaction ${has}, and the object storage keeps getting more`
    if (isFarBehind(followed, has, wanted))
      return `it has transaction ${has}, and a restore would reach ${wanted} sooner`
    followed.follower = follow(followed.settings, followed.file, CATCH_UP_EVERY_MS)
    if (!(await hasReached(followed, wanted, PATIENCE_MS)))
      return `it does not get from transaction ${has} to ${wanted}`
  }
}

/** A follower that checks often will be there soon, and the next one would have to list all levels first. */
async function letGoOn(followed: Followed, wanted: string | null): Promise<void> {
  const has = followedUpTo(followed.file)
  if (has === null || wanted === null || isFarBehind(followed, has, wanted)) return
  await hasReached(followed, wanted, PATIENCE_MS)
}

function isFarBehind({ file }: Followed, has: string, wanted: string): boolean {
  const transactions = Number(BigInt(`0x${wanted}`) - BigInt(`0x${has}`))
  return transactions * TRANSACTION_MS > RESTORE_MS + (sizeOf(file) / 1e6) * RESTORE_MS_PER_MB
}

/** Every copy has a transaction. */
const ANY = '0'.repeat(16)

async function hasReached({ file, follower }: Followed, wanted: string, patienceMs: number): Promise<boolean> {
  let isOver = false
  void follower.ended.then(() => (isOver = true))
  let [seen, since] = [progressOf(file), performance.now()]
  while ((followedUpTo(file) ?? '') < wanted) {
    if (isOver || performance.now() - since >= patienceMs) return false
    await Bun.sleep(LOOK_AT_PROGRESS_MS)
    const now = progressOf(file)
    if (now !== seen) [seen, since] = [now, performance.now()]
  }
  return true
}
