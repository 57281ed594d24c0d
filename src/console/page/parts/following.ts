import { useEffect } from 'preact/hooks'
import { onEvent, onceFollowing } from '../state/live.ts'
import type { LiveEvent } from '../state/live-event.ts'
import { onReturn } from '../state/loading.ts'

/** Something that was read, and changes with events. */
export interface Followed {
  note(event: LiveEvent): void
  /** Reads what the first reading may lack. */
  catchUp(): void
  /** Ends the reading, for good. */
  stop(): void
}

/** While a view shows it: reads it, passes on events, and runs `returned` when the connection returns. Null is not there yet. */
export function useFollowing(followed: Followed | null, read: () => void, returned: () => void): void {
  useEffect(() => {
    if (followed === null) return
    read()
    const ignore = onEvent((event) => followed.note(event))
    const stay = onReturn(returned)
    const wait = onceFollowing(() => followed.catchUp())
    return () => {
      ignore()
      stay()
      wait()
      followed.stop()
    }
  }, [followed])
}
