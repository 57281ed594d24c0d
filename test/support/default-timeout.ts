import { setDefaultTimeout } from 'bun:test'
import { plugin } from 'bun'

// Preloaded by bunfig.toml, which has no key for it: Bun's 5 s are too short for a busy machine, and Bun returns to them
// with each file.

const TIMEOUT_MS = 30_000

plugin({
  name: 'default timeout',
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => {
      setDefaultTimeout(TIMEOUT_MS)
      return { contents: await Bun.file(path).text(), loader: 'ts' }
    })
  },
})
