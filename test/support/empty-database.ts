import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openDatabase } from '../../src/db/database.ts'
import { folderInMemory } from './memory-folder.ts'

let made: Promise<Uint8Array> | null = null

/**
 * Creates an empty database with the current schema if there is none, with a key beside it, which no start makes for a database that is
 * there. This is faster than migrations in every world.
 */
export async function placeEmptyDatabase(path: string): Promise<void> {
  if (existsSync(path)) return
  made ??= makeEmptyDatabase()
  const key = crypto.getRandomValues(new Uint8Array(32)).toBase64()
  writeFileSync(join(dirname(path), 'encryption.key'), key, { mode: 0o600 })
  writeFileSync(path, await made, { mode: 0o600 })
}

async function makeEmptyDatabase(): Promise<Uint8Array> {
  const folder = folderInMemory()
  try {
    const path = join(folder, 'sgw.db')
    const database = await openDatabase({ url: `file:${path}`, path, authToken: null, litestream: false })
    await database.close()
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
