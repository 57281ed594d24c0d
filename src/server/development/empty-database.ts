import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ENCRYPTION_KEY } from '../../core/encryption-config.ts'
import { openDatabase } from '../../db/database.ts'

export const DATABASE = 'sgw.db'

let starts = 0
let made: Promise<Uint8Array> | null = null

/**
 * Places an empty database with the current schema in a folder, with its key. The migrations take half of a gateway's start, so from the second
 * start on the gateways of a process begin with a copy. The first one, which is often the only one, migrates its own.
 */
export async function placeEmptyDatabase(folder: string): Promise<void> {
  if (++starts === 1) return
  made ??= makeEmptyDatabase(dirname(folder))
  const key = crypto.getRandomValues(new Uint8Array(32)).toBase64()
  writeFileSync(join(folder, ENCRYPTION_KEY), key, { mode: 0o600 })
  writeFileSync(join(folder, DATABASE), await made, { mode: 0o600 })
}

async function makeEmptyDatabase(parent: string): Promise<Uint8Array> {
  const folder = mkdtempSync(join(parent, `sgw-kit-${process.pid}-`))
  try {
    const path = join(folder, DATABASE)
    const database = await openDatabase({ url: `file:${path}`, path, authToken: null, litestream: false })
    await database.close()
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
