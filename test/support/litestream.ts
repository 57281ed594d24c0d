import { dirname, join } from 'node:path'
import { goProgram } from './go-program.ts'
import { PROJECT } from './program.ts'

/** Litestream 0.3.13, without its npm wrapper, which hides exit codes and signals. */
export const OLD_LITESTREAM = join(
  dirname(Bun.resolveSync('@flydotio/litestream-linux-x64/package.json', PROJECT)),
  'litestream',
)

/** The real Litestream: 0.5.18 if Go or it is installed, else 0.3.13. `TEST_LITESTREAM=0.3` selects the older one. */
export const LITESTREAM = process.env['TEST_LITESTREAM'] === '0.3' ? OLD_LITESTREAM : (newer() ?? OLD_LITESTREAM)

/** The version of the image. No package registry has its binary. */
function newer(): string | null {
  return goProgram('github.com/benbjohnson/litestream/cmd/litestream@v0.5.18') ?? installed()
}

/** The one in the PATH, unless it is older. */
function installed(): string | null {
  const path = Bun.which('litestream')
  if (path === null) return null
  const version = Bun.spawnSync([path, 'version']).stdout.toString().trim().replace(/^v/, '')
  return /^\d/.test(version) && Bun.semver.order(version, '0.5.18') >= 0 ? path : null
}

/** 0.3 has neither a control socket nor a check of the last copy. */
export const IS_LITESTREAM_5 = LITESTREAM !== OLD_LITESTREAM

if (import.meta.main) process.stdout.write(`The backup tests run ${LITESTREAM}\n`)
