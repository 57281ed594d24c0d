import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import manifest from '../../package.json'
import platforms from '../../scripts/platforms/package.json'
import { PLATFORMS } from '../../scripts/platform.ts'
import { finished } from '../support/program.ts'

// An executable for another platform is made of the same Bun and the same database as the one for this machine.

test('the parts of every platform have the versions that the tests run with', () => {
  const expected = PLATFORMS.flatMap(({ addon, bun }) => [
    [addon, manifest.dependencies.libsql],
    [bun, manifest.devDependencies['bun-types']],
  ])
  expect<Record<string, string>>(platforms.dependencies).toEqual(Object.fromEntries(expected))
})

test('their lock file has these versions, each with its hash', () => {
  const { packages } = Bun.JSONC.parse(readFileSync('scripts/platforms/bun.lock', 'utf8')) as {
    packages: Record<string, string[]>
  }
  expect(Object.values(packages).map(([id]) => id)).toEqual(
    Object.entries(platforms.dependencies).map(([name, version]) => `${name}@${version}`),
  )
  for (const [, registry, , hash] of Object.values(packages))
    expect([registry, hash]).toEqual(['', expect.stringMatching(/^sha512-/)])
})

test('a build for a platform that there is none for names those that there are', async () => {
  expect(await finished([process.execPath, 'scripts/build.ts', '--target', 'plan9-x64'], {})).toEqual({
    code: 1,
    stdout: '',
    stderr: `There is no build for plan9-x64: use one of ${PLATFORMS.map(({ name }) => name).join(', ')}\n`,
  })
})
