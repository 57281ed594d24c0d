import { setDefaultTimeout } from 'bun:test'
import { plugin } from 'bun'
import { exemptThisMachine } from '../../src/core/proxy.ts'
import { refuseUnlistedMigrations } from './listed-migrations.ts'

// bunfig.toml preloads this file, because it has no key for the timeout. Bun's 5 s are too short for a busy machine, and
// Bun resets the timeout with each file.

const TIMEOUTS_MS: Readonly<Record<string, number>> = { test: 30_000, browser: 60_000, long: 120_000 }

refuseUnlistedMigrations()
exemptThisMachine(process.env)
ignoreRequestsToCollect()

plugin({
  name: 'default timeout',
  setup(build) {
    build.onLoad({ filter: /\.(test|browser|long)\.ts$/ }, async ({ path }) => {
      setDefaultTimeout(TIMEOUTS_MS[path.split('.').at(-2) ?? ''] ?? 0)
      return { contents: await Bun.file(path).text(), loader: 'ts' }
    })
  },
})

/** Elysia requests a collection at each listen, which a process that starts a thousand gateways spends a twentieth of its time on. */
function ignoreRequestsToCollect(): void {
  const { gc } = Bun
  Bun.gc = (force) => (force === true ? gc(true) : 0)
}
