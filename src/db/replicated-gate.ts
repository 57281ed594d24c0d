import type { Result } from './connection.ts'
import type { Gate } from './gate.ts'
import { NOT_STORED, type Storage } from './storage.ts'
import { NEWEST_EVENT, type StoredEvents } from './stored-events.ts'

/** A second place that must have every commit before it is acknowledged, so that the loss of this machine loses none. */
export interface Replica {
  /** Resolves when the replica has stored everything that is committed now. Rejects with the reason if it does not in time. */
  store(): Promise<void>
  /** A condition after `store` before a commit is acknowledged. Meanwhile the next one may be stored. Rejects as `store` does. */
  confirm?(): Promise<void>
}

export interface Committed {
  results: Result[]
  /** Resolves when the commit may be acknowledged; null if it may be now. */
  confirmed: Promise<void> | null
}

/** As `Gate.batch`, but resolves as soon as the next commit may begin. */
export type Commit = (statements: Parameters<Gate['batch']>[0]) => Promise<Committed>

/** Everything on the disk may be acknowledged. */
export const commitTo =
  ({ batch }: Pick<Gate, 'batch'>): Commit =>
  async (statements) => ({ results: await batch(statements), confirmed: null })

/**
 * Acknowledges a commit when the replica has it. A commit that the replica does not confirm stays in the database and fails as if the disk had
 * failed after it: the code that wrote it must find out whether it is there. While the replica fails, nothing more is committed, except to
 * `probe` it.
 */
export function commitToReplica(
  { batch }: Pick<Gate, 'batch'>,
  replica: Replica,
  storage: Storage,
  events: StoredEvents,
): { commit: Commit; probe: (statements: Parameters<Commit>[0]) => Promise<void> } {
  const refuse = (error: unknown): never => storage.refuse(NOT_STORED, reasonOf(error))
  const store: Commit = async (statements) => {
    const results = await batch([...statements, NEWEST_EVENT])
    const newest = Number(results.pop()?.rows[0]?.['seq'] ?? 0)
    await replica.store().catch(refuse)
    if (replica.confirm !== undefined)
      return { results, confirmed: replica.confirm().then(() => events.stored(newest), refuse) }
    events.stored(newest)
    return { results, confirmed: null }
  }
  return {
    probe: async (statements) => (await store(statements)).confirmed ?? undefined,
    commit: async (statements) => {
      storage.refuseIfNotStored()
      return store(statements)
    },
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
