import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createSecrets } from '../../src/core/secrets.ts'
import { diagnose } from '../../src/operator/doctor/diagnose.ts'
import { temporaryFolder } from '../support/process.ts'
import { HOME, createWorld } from '../support/world.ts'

test('a production start without a public address or a backup keeps its key beside the database, and the doctor says where', async () => {
  using folder = temporaryFolder()
  const env = { ...HOME, DATABASE_URL: folder.database }
  await using world = await createWorld({ folder: folder.path, work: false, env })
  const file = folder.file('encryption.key')
  expect(readFileSync(file, 'utf8')).toMatch(/^[A-Za-z0-9+/]{43}=\n$/)
  const found = (await diagnose(world.gateway)).find(({ check }) => check === 'encryption keys')
  expect(found).toEqual({
    check: 'encryption keys',
    ok: true,
    level: 'warn',
    detail: `kept in ${file}: copy it to another machine`,
  })
})

test('keys that lack the one beside the database are refused as long as a row needs it', async () => {
  using folder = temporaryFolder()
  /** Starts, makes an app, and stops. Returns the text of a refusal. */
  const startWith = async (env: Record<string, string>): Promise<string> => {
    try {
      await using _world = await createWorld({ folder: folder.path, work: false, connect: false, env })
      return 'started'
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  expect(await startWith(HOME)).toBe('started')
  const file = folder.file('encryption.key')
  const key = readFileSync(file, 'utf8').trim()
  const other = crypto.getRandomValues(new Uint8Array(32)).toBase64()
  const refusal = expect.stringMatching(
    new RegExp(
      `^ENCRYPTION_KEYS lacks the key in ${file}, which .* of app_.*: set ENCRYPTION_KEYS_FILE=${file} instead`,
    ),
  )
  for (const env of [{}, { NODE_ENV: 'production' }])
    expect(await startWith({ ...env, ENCRYPTION_KEYS: other })).toEqual(refusal)
  expect(await startWith({ ENCRYPTION_KEYS: key })).toBe('started')
  expect(await startWith({ ENCRYPTION_KEYS: `${other},${key}` })).toBe('started')
  // One app has the new key, so some secrets could be read.
  expect(await startWith({ ENCRYPTION_KEYS: other })).toEqual(refusal)
  // The secrets that it lacks are not those of the file.
  expect(await startWith({ ENCRYPTION_KEYS: key })).toBe('started')
  using database = new Database(folder.file('sgw.db'))
  const { keyId } = createSecrets([Uint8Array.fromBase64(other)])
  database.run(`UPDATE apps SET is_active = 0 WHERE key_hash NOT LIKE '${keyId}:%'`)
  expect(await startWith({ ENCRYPTION_KEYS: other })).toBe('started')
})
