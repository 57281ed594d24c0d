import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const PROJECT = join(import.meta.dir, '../..')

/** Ends every test run immediately if a migration is missing from the list: otherwise, hundreds of tests fail with SQLite's errors. */
export function refuseUnlistedMigrations(): void {
  const list = readFileSync(join(PROJECT, 'src/db/migrations.ts'), 'utf8')
  const missing = readdirSync(join(PROJECT, 'drizzle')).filter((file) => file.endsWith('.sql') && !list.includes(file))
  if (missing.length === 0) return
  process.stderr.write(
    `drizzle/${missing.join(', drizzle/')} is not in src/db/migrations.ts: add its import and its row there\n`,
  )
  process.exit(1)
}
