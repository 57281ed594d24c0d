import type { Gateway } from '../messages/gateway.ts'

/**
 * Copies the database into a new file if its own file was deleted, replaced, overwritten or cut: then only this process can still read it.
 * Blocks the gateway while it copies. `copied`: false if the file is in place, so that any process can copy it.
 */
export async function rescue({ database }: Gateway, { file }: { file: string }): Promise<{ copied: boolean }> {
  if (database.storage?.isLost !== true) return { copied: false }
  await database.gate.execute({ sql: 'VACUUM INTO ?1', args: [file] })
  return { copied: true }
}
