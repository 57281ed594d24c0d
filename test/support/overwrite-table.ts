import { closeSync, openSync, writeSync } from 'node:fs'
import type { Gate } from '../../src/db/gate.ts'

const PAGE_BYTES = 4096

/** Makes a table with rows, whose pages are in the file. Nothing of the gateway reads it. */
export async function makeTable(gate: Gate, name: string): Promise<void> {
  await gate.execute(`CREATE TABLE ${name} (text TEXT)`)
  await gate.execute(`INSERT INTO ${name} VALUES (hex(zeroblob(8192)))`)
  await gate.execute('PRAGMA wal_checkpoint(TRUNCATE)')
}

/** Overwrites the first page of a table in the file, below SQLite, as a disk that fails may do. */
export async function overwriteTable(gate: Gate, path: string, name: string): Promise<void> {
  const [[page] = []] = await gate.values({ sql: 'SELECT rootpage FROM sqlite_schema WHERE name = ?1', args: [name] })
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(PAGE_BYTES, 0x5a), 0, PAGE_BYTES, (Number(page) - 1) * PAGE_BYTES)
  closeSync(file)
}
