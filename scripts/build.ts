import { existsSync } from 'node:fs'
import { mkdir, rm, stat } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { COMMIT } from '../src/core/build.ts'
import { buildBundle, buildExecutable } from './executable.ts'
import { type Parts, type Platform, installedParts, isThisMachine, lockedParts, platformOf } from './platform.ts'
import { reasonOf } from './reason.ts'

// bun scripts/build.ts [--target linux-arm64] [--out FOLDER] [--bundle-only]
//   --commit HASH  the commit that --version names; by default that of this checkout
//   dist/sgw             one executable: server, commands, migrations, documentation page
//   dist/bundle/cli.js   the same without Bun, for the container image

try {
  const { values } = parseArgs({
    options: {
      target: { type: 'string', default: `${process.platform}-${process.arch}` },
      out: { type: 'string', default: 'dist' },
      'bundle-only': { type: 'boolean', default: false },
      commit: { type: 'string', default: COMMIT ?? '' },
    },
  })
  await build(platformOf(values.target), values.out, values['bundle-only'], values.commit)
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`)
  process.exitCode = 1
}

async function build(platform: Platform, folder: string, bundleOnly: boolean, commit: string): Promise<void> {
  const parts = await partsOf(platform)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await buildBundle(`${folder}/bundle`, parts, commit)
  if (bundleOnly) return
  const path = `${folder}/sgw${platform.os === 'win32' ? '.exe' : ''}`
  await buildExecutable(path, platform, parts, commit)
  const { size } = await stat(path)
  process.stdout.write(`${path} ${Math.round(size / 1e6)} MB, ${folder}/bundle/cli.js\n`)
}

/** Downloads nothing for this machine: the image is built this way, and a checkout has everything it needs. */
async function partsOf(platform: Platform): Promise<Parts> {
  if (!isThisMachine(platform)) return lockedParts(platform)
  if (!existsSync(`node_modules/${platform.addon}`))
    throw new Error(`${platform.addon} is not installed: run bun install first`)
  return installedParts(platform)
}
