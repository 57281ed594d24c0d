import { parseArgs } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { findProblems } from './release/checks.ts'
import { makeRelease } from './release/make.ts'
import { PLATFORMS, platformOf } from './platform.ts'
import { reasonOf } from './reason.ts'

// bun run release [--check] [--out FOLDER] [--target linux-x64]…
//   refuses a commit that cannot be released; else makes dist/release/, what a maintainer uploads, and prints how
//   --check   only checks, and makes nothing
//   --target  only the executable for this platform; may be given several times
// It publishes nothing.

try {
  const { values } = parseArgs({
    options: {
      check: { type: 'boolean', default: false },
      out: { type: 'string', default: 'dist/release' },
      target: { type: 'string', multiple: true, default: PLATFORMS.map(({ name }) => name) },
    },
  })
  const platforms = values.target.map(platformOf)
  const problems = await findProblems(manifest.version)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const version = manifest.version
  process.stdout.write(
    values.check ? `${version} can be released\n` : await makeRelease({ version, folder: values.out, platforms }),
  )
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`)
  process.exitCode = 1
}
