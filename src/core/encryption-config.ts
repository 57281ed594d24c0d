import { dirname, join, resolve } from 'node:path'
import type { Settings } from './settings.ts'

/** The file beside the database with the key if `ENCRYPTION_KEYS` is not set. */
export const ENCRYPTION_KEY = 'encryption.key'

/** Null if none is set: then the start makes a key, and keeps it beside the database. */
export function readEncryptionKeys(
  settings: Settings,
  production: boolean,
  databasePath: string | null,
): Uint8Array[] | null {
  const text = settings.secret('ENCRYPTION_KEYS')
  if (text === null) {
    if (production && needsKeys(settings)) settings.missing('ENCRYPTION_KEYS', fixOf(settings, databasePath))
    return null
  }
  return text.split(',').map((part, index) => {
    const key = decodeKey(part.trim())
    if (key === null)
      settings.problem('ENCRYPTION_KEYS', `has no base64 of 32 bytes at position ${index + 1}`, MAKE_ONE)
    return key ?? new Uint8Array(32)
  })
}

const MAKE_ONE = 'make one with: sgw secret (or bun run sgw secret)'

/** A backup has only the database, and a gateway with a public name serves more than one household. */
const needsKeys = (settings: Settings): boolean =>
  settings.text('PUBLIC_URL') !== null ||
  settings.text('RC_EVENTS') === 'webhook' ||
  settings.text('LITESTREAM_REPLICA_URL') !== null

/** A database created without `ENCRYPTION_KEYS` needs its own key, not a new one. */
function fixOf(settings: Settings, databasePath: string | null): string {
  const path = join(dirname(resolve(databasePath ?? '.')), ENCRYPTION_KEY)
  return settings.hasFile(path)
    ? `the key of this database is in its folder: set ENCRYPTION_KEYS_FILE=${path}, and keep a copy of that file on another machine`
    : MAKE_ONE
}

function decodeKey(text: string): Uint8Array | null {
  try {
    const key = Uint8Array.fromBase64(text, { alphabet: /[-_]/.test(text) ? 'base64url' : 'base64' })
    return key.length === 32 && new Set(key).size > 1 ? key : null
  } catch {
    return null
  }
}
