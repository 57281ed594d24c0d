import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { followedUpTo } from '../../../src/operator/backup/follower.ts'

/** The files of the copy that a standby keeps ready in its data folder. */
export const keptIn = (folder: string): string[] =>
  readdirSync(folder).filter((name) => name.startsWith('sgw.db.following-'))

/** The transaction up to which it has everything, in hexadecimal; null without one. */
export const reachedIn = (folder: string): string | null =>
  keptIn(folder)
    .filter((name) => !name.endsWith('-txid'))
    .map((name) => followedUpTo(join(folder, name)))
    .find((reached) => reached !== null) ?? null
