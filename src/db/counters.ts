import type { Gate } from './gate.ts'
import { readProgress } from './restore-mark.ts'

/** Which database it is, and the last number of each table whose numbers only go up. */
export interface Counters {
  incarnation: string | null
  numbers: ReadonlyMap<string, number>
}

export async function readCounters(gate: Pick<Gate, 'batch'>): Promise<Counters> {
  const [sequences, progress] = [await gate.batch(['SELECT name, seq FROM sqlite_sequence']), await readProgress(gate)]
  const rows = sequences[0]?.rows ?? []
  return {
    incarnation: progress?.incarnation ?? null,
    numbers: new Map([
      ...rows.map((row) => [String(row['name']), Number(row['seq'])] as const),
      ['events', progress?.event ?? 0],
    ]),
  }
}

/** Whether a database has every row that another one has had. A database without an incarnation has none: no gateway has used it yet. */
export const hasAllOf = (ours: Counters, theirs: Counters): boolean =>
  theirs.incarnation === null ||
  (ours.incarnation === theirs.incarnation &&
    [...theirs.numbers].every(([name, seq]) => seq <= (ours.numbers.get(name) ?? 0)))
