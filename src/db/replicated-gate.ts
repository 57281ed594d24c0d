import type { Result } from './connection.ts'
import type { Gate } from './gate.ts'
import { NOT_STORED, type Storage } from './storage.ts'
import { NEWEST_EVENT, type StoredEvents } from './stored-events.ts'

/** A second place that must have every commit before it is acknowledged, so that the loss of this machine loses none. */
export interface Replica {
  /** Resolves when the replica has stored everything that is committed now. Rejects with the reason if it does not in time. */
  store(): Promise<void>
  /** What must hold after `store` before a commit is acknowledged. Meanwhile the next one may be stored. Rejects as `store` does. */
  confirm?(): Promise<void>
}

/** A gate whose commits are stored at the replica as well. */
export interface ReplicatedGate extends Gate {
  /** A commit that is tried also while the replica fails: only this one finds out that it works again. */
  probe: Gate['batch']
  /** As `batch`, but resolves as soon as the next commit may begin. */
  commit(statements: Parameters<Gate['batch']>[0]): Promise<Committed>
}

export interface Committed {
  results: Result[]
  /** Resolves when the commit may be acknowledged; null if it may be now. */
  confirmed: Promise<void> | null
}

/**
 * Acknowledges a commit when the replica has it. One that the replica does not confirm stays in the database and fails as one of a disk
 * that failed after its commit does: the code that wrote it must find out whether it is there. While the replica fails, nothing more is committed.
 */
export function replicatedGate(gate: Gate, replica: Replica, storage: Storage, events: StoredEvents): ReplicatedGate {
  const refuse = (error: unknown): never => storage.refuse(NOT_STORED, reasonOf(error))
  const store: ReplicatedGate['commit'] = async (statements) => {
    const results = await gate.batch([...statements, NEWEST_EVENT])
    const newest = Number(results.pop()?.rows[0]?.['seq'] ?? 0)
    await replica.store().catch(refuse)
    if (replica.confirm !== undefined)
      return { results, confirmed: replica.confirm().then(() => events.stored(newest), refuse) }
    events.stored(newest)
    return { results, confirmed: null }
  }
  const probe: Gate['batch'] = async (statements) => {
    const { results, confirmed } = await store(statements)
    await confirmed
    return results
  }
  return {
    ...gate,
    probe,
    commit: async (statements) => {
      storage.refuseIfNotStored()
      return store(statements)
    },
    batch: async (statements) => {
      storage.refuseIfNotStored()
      return probe(statements)
    },
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
