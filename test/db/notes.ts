import { type Gate, openGate } from '../../src/db/gate.ts'
import { type PipedProgram, startProgram } from '../support/process.ts'

export const PRAGMAS = ['journal_mode = WAL', 'synchronous = FULL']

/** Opens a database with a table `notes`. */
export async function openNotes(path: string, reconnectOnBusy = true): Promise<Gate> {
  const gate = await openGate({ url: `file:${path}`, pragmas: PRAGMAS, reconnectOnBusy })
  await gate.execute('CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY)')
  return gate
}

/** Reads the committed ids in another process, because locks do not work between two connections of one process. */
export async function committed(path: string): Promise<Set<number>> {
  await using reader = startProgram('test/db/fixtures/read-ids.ts', [path])
  const { stdout } = await reader.ended()
  return new Set(JSON.parse(stdout) as number[])
}

/**
 * Starts a process that takes the write lock `times` times for `holdMs`, which is longer than a call waits for the
 * lock.
 */
export async function lockHolder(path: string, times: number, holdMs: number): Promise<PipedProgram> {
  const holder = startProgram('test/db/fixtures/lock-holder.ts', [path, String(times), String(holdMs), '150'])
  await holder.printed(/ready/)
  return holder
}
