import { useEffect, useMemo } from 'preact/hooks'
import type { Sgw } from '../../../client/client.ts'
import { client } from '../state/caller.ts'
import { onEvent, onceFollowing } from '../state/live.ts'
import type { LiveEvent } from '../state/live-event.ts'
import { onReturn } from '../state/loading.ts'

/** Something that is read, and changes with events. */
export interface Followed {
  load(): Promise<void>
  note(event: LiveEvent): void
  /** Reads what may be missing: after the first reading, and when the connection is back. */
  catchUp(): void
  /** Stops reading for good. */
  stop(): void
}

/**
 * Reads and follows what a view shows; null while there is nothing to show. A different app or key, such as a list's filter, creates a new one.
 */
export function useFollowed<Item extends Followed>(key: string, make: (sgw: Sgw) => Item | null): Item | null {
  const sgw = client.value
  const followed = useMemo(() => (sgw === null ? null : make(sgw)), [key, sgw])
  useEffect(() => {
    if (followed === null) return
    void followed.load()
    const ignore = onEvent((event) => followed.note(event))
    const stay = onReturn(() => followed.catchUp())
    const wait = onceFollowing(() => followed.catchUp())
    return () => {
      ignore()
      stay()
      wait()
      followed.stop()
    }
  }, [followed])
  return followed
}
