import { goProgram } from './go-program.ts'

/** The real Litestream 0.5.18, if Go or it is installed. `TEST_LITESTREAM=none`: as if neither were. */
const FOUND = process.env['TEST_LITESTREAM'] === 'none' ? null : (built() ?? installed())
export const LITESTREAM: string = FOUND ?? 'litestream'
export const HAS_LITESTREAM: boolean = FOUND !== null

/** The version of the image. No package registry has its binary. */
function built(): string | null {
  return goProgram('github.com/benbjohnson/litestream/cmd/litestream@v0.5.18')
}

/** The one in the PATH, unless it is older. */
function installed(): string | null {
  const path = Bun.which('litestream')
  if (path === null) return null
  const version = Bun.spawnSync([path, 'version']).stdout.toString().trim().replace(/^v/, '')
  return /^\d/.test(version) && Bun.semver.order(version, '0.5.18') >= 0 ? path : null
}

if (import.meta.main)
  process.stdout.write(
    HAS_LITESTREAM
      ? `The backup tests run ${LITESTREAM}\n`
      : 'Litestream 0.5.18 was not found, so its tests are left out: install it, or Go\n',
  )
