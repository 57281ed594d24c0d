import type { Clock } from '../core/clock.ts'
import type { Database } from './database.ts'
import type { RestoreMark } from './mark-file.ts'

const EVERY_MS = 1000

/**
 * Records the newest event in the restore mark, at most a second after its commit. A gateway that only receives makes no attempts: without
 * this, nothing would show that its database was restored, and cursors would lead to other events. The returned function records the last
 * event and closes the mark.
 */
export function markEvents(
  { gate, writer, storedEvents }: Pick<Database, 'gate' | 'writer' | 'storedEvents'>,
  mark: Pick<RestoreMark, 'noteEvent' | 'close'>,
  clock: Pick<Clock, 'after'>,
): () => Promise<void> {
  let cancel: (() => void) | null = null
  let noting = Promise.resolve()
  let isOver = false
  const note = async (): Promise<void> => {
    cancel = null
    // Nobody sees an event that the replica lacks, and it may be lost with this machine.
    const [row] = await gate.values({ sql: NEWEST_STORED, args: [storedEvents.newest] })
    mark.noteEvent(Number(row?.[0] ?? 0))
  }
  const plan = (): void => {
    if (isOver || cancel !== null) return
    // The next commit makes up for a failure.
    cancel = clock.after(EVERY_MS, () => void (noting = note().catch(() => undefined)))
  }
  writer.onCommit(plan)
  storedEvents.onStored(plan)
  return async () => {
    isOver = true
    cancel?.()
    await noting
    await note().catch(() => undefined)
    mark.close()
  }
}

const NEWEST_STORED = 'SELECT max(seq) FROM events WHERE seq <= ?1'
