import { readFileSync } from 'node:fs'
import { reasonIn } from './program.ts'
import { type BackupSettings, environmentOf } from './settings.ts'

// Litestream's `restore -f`. Source: Replica.Restore, follow and WriteTXIDFile in replica.go of Litestream 0.5.18.

/** A Litestream process that restores a copy to a file, and then applies the copy's new changes. */
export interface Follower {
  /** Its last error, if it ended on its own. */
  ended: Promise<string>
  /** Ends it immediately. Resolves when nothing writes to the file anymore. */
  kill(): Promise<void>
}

/** Starts a follower. It continues with the file if there is one, checks every `everyMs`, and ends with this process, however that ends. */
export function follow(settings: BackupSettings, file: string, everyMs: number): Follower {
  const { program, configPath, databasePath } = settings
  const restore = ['restore', '-config', configPath, '-f', '-follow-interval', `${everyMs}ms`, '-o', file, databasePath]
  const child = Bun.spawn(['setpriv', '--pdeathsig', 'KILL', program, ...restore], {
    env: environmentOf(settings),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = Promise.withResolvers<string>()
  let isKilled = false
  void child.stderr.text().then((text) => isKilled || ended.resolve(reasonIn(text)))
  return {
    ended: ended.promise,
    async kill() {
      isKilled = true
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

const FOLLOWED_UP_TO = '-txid'

/**
 * The transaction up to which a file has everything, in hexadecimal; null if it has none yet. The file may have a part of later transactions,
 * because a follower writes this after it has applied everything that it found.
 */
export function followedUpTo(file: string): string | null {
  try {
    return /^[\da-f]{16}$/m.exec(readFileSync(file + FOLLOWED_UP_TO, 'utf8'))?.[0] ?? null
  } catch {
    return null
  }
}
