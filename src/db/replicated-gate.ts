import type { Gate } from './gate.ts'
import { NOT_STORED, type Storage } from './storage.ts'
import { NEWEST_EVENT, type StoredEvents } from './stored-events.ts'

/** A second place that must have every commit before it is acknowledged, so that the loss of this machine loses none. */
export interface Replica {
  /** Resolves when the replica has stored everything that is committed now. Rejects with the reason if it does not in time. */
  store(): Promise<void>
}

/** A gate whose commits are stored at the replica as well. */
export interface ReplicatedGate extends Gate {
  /** A commit that is tried also while the replica fails: only this one finds out that it works again. */
  probe: Gate['batch']
}

/**
 * Acknowledges a commit when the replica has it. One that the replica does not confirm stays in the database and fails as one of a disk
 * that failed after its commit does: whoever wrote it must find out whether it is there. While the replica fails, nothing more is committed.
 */
export function replicatedGate(gate: Gate, replica: Replica, storage: Storage, events: StoredEvents): ReplicatedGate {
  const probe: Gate['batch'] = async (statements) => {
    const results = await gate.batch([...statements, NEWEST_EVENT])
    const newest = results.pop()?.rows[0]?.['seq']
    await replica.store().catch((error: unknown) => storage.refuse(NOT_STORED, reasonOf(error)))
    events.stored(Number(newest ?? 0))
    return results
  }
  return {
    ...gate,
    probe,
    batch: (statements) => {
      storage.refuseIfNotStored()
      return probe(statements)
    },
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
