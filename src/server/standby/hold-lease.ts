import type { Config } from '../../core/config.ts'
import { type Log, errorName } from '../../core/log.ts'
import { EXIT } from '../../core/start-error.ts'
import type { HeldLease } from '../../operator/lease/held-lease.ts'
import type { BackupProcess } from '../backup-process.ts'
import type { Shutdown } from '../shutdown.ts'
import { type Holding, standBy } from './stand-by.ts'

/**
 * Waits until this process holds the lease, and makes it end with the lease: at a stop the lease is given to a standby after everything else,
 * and when it is lost the process ends at once. Returns null if it is stopped meanwhile. Errors: `StartError`.
 */
export async function holdLease(
  config: Config,
  log: Log,
  backup: BackupProcess,
  shutdown: Shutdown,
): Promise<Holding | null> {
  const waiting = new AbortController()
  const ended = Promise.withResolvers<void>()
  shutdown.state = 'standby'
  shutdown.end = async () => {
    waiting.abort()
    await ended.promise
    return null
  }
  let copying = backup
  const taken = (lease: HeldLease): void => {
    shutdown.state = 'starting'
    // A stop that comes while the gateway starts has nothing to drain.
    shutdown.end = async () => {
      copying.kill()
      await release(lease, log)
      return null
    }
  }
  const lost = (why: string): void => {
    shutdown.state = 'draining'
    copying.kill()
    process.stderr.write(`${lostLease(why)}\n`)
    shutdown.exit(EXIT.locked)
  }
  const give = (): void => void shutdown.stop(EXIT.locked)
  try {
    const holding = await standBy({ config, log, backup, signal: waiting.signal, taken, lost, give })
    if (holding !== null) copying = holding.backup
    return holding
  } finally {
    ended.resolve()
  }
}

/** A standby takes a lease that is not released as well, but 5 s later. */
export async function release(lease: HeldLease, log: Log): Promise<void> {
  await lease.release().catch((error: unknown) => log.warn({ error: errorName(error) }, 'the lease cannot be released'))
}

const lostLease = (why: string): string =>
  `This gateway has lost its lease: ${why}. It stops at once and copies nothing more: what was acknowledged is stored, and the new holder has it. Start it again, and it stands by (docs/beyond-one-machine.md)`
