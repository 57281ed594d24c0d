import { setDefaultTimeout } from 'bun:test'
import { plugin } from 'bun'
import { refuseUnlistedMigrations } from './listed-migrations.ts'

// bunfig.toml preloads this file, because it has no key for the timeout. Bun's 5 s are too short for a busy machine, and
// Bun resets the timeout with each file.

const TIMEOUT_MS = 30_000

refuseUnlistedMigrations()

plugin({
  name: 'default timeout',
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => {
      setDefaultTimeout(TIMEOUT_MS)
      return { contents: await Bun.file(path).text(), loader: 'ts' }
    })
  },
})
