import type { Clock } from '../core/clock.ts'
import type { Database } from './database.ts'
import type { RestoreMark } from './mark-file.ts'

const EVERY_MS = 1000

/**
 * Notes the newest event in the restore mark, a second after its commit at most. A gateway that only receives makes no attempts: without
 * this nobody would notice that its database was restored, and cursors would lead to other events. The returned function notes the last
 * one and closes the mark.
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
    // An event that the replica lacks is seen by nobody, and may be lost with this machine.
    const [row] = await gate.values({ sql: NEWEST_STORED, args: [storedEvents.newest] })
    mark.noteEvent(Number(row?.[0] ?? 0))
  }
  const plan = (): void => {
    if (isOver || cancel !== null) return
    // One that fails is made up for by the next commit.
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
