import { type Gate, openGate } from '../../src/db/gate.ts'
import { type Program, startProgram } from '../support/process.ts'

export const PRAGMAS = ['journal_mode = WAL', 'synchronous = FULL']

/** A database of notes. */
export async function openNotes(path: string, reconnectOnBusy = true): Promise<Gate> {
  const gate = await openGate({ url: `file:${path}`, pragmas: PRAGMAS, reconnectOnBusy })
  await gate.execute('CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY)')
  return gate
}

/** What another process sees: only what is committed. Locks do not hold between two connections of one process. */
export async function committed(path: string): Promise<Set<number>> {
  await using reader = startProgram('test/db/fixtures/read-ids.ts', [path])
  const { stdout } = await reader.ended()
  return new Set(JSON.parse(stdout) as number[])
}

/** Another process takes the write lock `times` times for `holdMs`, which is longer than a call waits for it. */
export async function lockHolder(path: string, times: number, holdMs: number): Promise<Program> {
  const holder = startProgram('test/db/fixtures/lock-holder.ts', [path, String(times), String(holdMs), '150'])
  await holder.printed(/ready/)
  return holder
}
