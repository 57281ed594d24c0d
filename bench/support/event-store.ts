import { openGroupCommit } from './group-commit.ts'

/** The storage of a floor. */
export interface EventStore {
  /** Stores an event. Returns a job for each destination, or null if the event is known. */
  stored(id: string, text: string, destinations: number): Promise<number[] | null>
  ended(job: number): Promise<unknown>
}

export const noStore: EventStore = {
  stored: async (_id, _text, destinations) => Array.from({ length: destinations }, () => 0),
  ended: async () => undefined,
}

/** Commits and flushes an event before anything else, and once more when a POST has ended. */
export function openEventStore(path: string): EventStore {
  const { database, committed } = openGroupCommit(path, [
    'CREATE TABLE messages (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL)',
    'CREATE TABLE jobs (seq INTEGER PRIMARY KEY, message TEXT NOT NULL)',
  ])
  const insertMessage = database.prepare('INSERT INTO messages (id, text) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const insertJob = database.prepare('INSERT INTO jobs (seq, message) VALUES (?, ?)')
  const deleteJob = database.prepare('DELETE FROM jobs WHERE seq = ?')
  let last = 0
  return {
    async stored(id, text, destinations) {
      let jobs: number[] | null = null
      await committed(() => {
        if (insertMessage.run([id, text]).changes === 0) return
        jobs = Array.from({ length: destinations }, () => ++last)
        for (const job of jobs) insertJob.run([job, id])
      })
      return jobs
    },
    ended: (job) => committed(() => void deleteJob.run([job])),
  }
}
