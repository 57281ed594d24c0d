import { expect, test } from 'bun:test'
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { finished } from '../support/program.ts'
import { temporaryFolder } from '../support/process.ts'

// The installed packages are the reviewed ones: exact versions, hashes, and no install scripts.

/** The lowest permitted versions. Older ones have published vulnerabilities or get no fixes. */
const FLOORS: Readonly<Record<string, string>> = { elysia: '1.4.27', 'drizzle-orm': '0.45.2', jose: '6.0.0' }

interface Manifest {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
  trustedDependencies?: string[]
  scripts?: Record<string, string>
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest
const declared = { ...manifest.dependencies, ...manifest.devDependencies }

/** Bun's lockfile is JSON with trailing commas. It maps a name or path to name@version, registry, details and hash. */
const lock = (
  Bun as unknown as { JSONC: { parse(text: string): { packages: Record<string, unknown[]> } } }
).JSONC.parse(readFileSync('bun.lock', 'utf8'))

test('every dependency is pinned to one version', () => {
  const loose = Object.entries(declared).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
  expect(Object.keys(declared).length).toBeGreaterThan(15)
  expect(loose).toEqual([])
})

test('the lockfile has those versions, each from the registry with its hash', () => {
  for (const [name, version] of Object.entries(declared)) expect(lock.packages[name]?.[0]).toBe(`${name}@${version}`)
  const odd = Object.entries(lock.packages).filter(
    ([, [id, registry, , hash]]) =>
      !/^(@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+/.test(String(id)) || registry !== '' || !String(hash).startsWith('sha512-'),
  )
  expect(odd).toEqual([])
})

test('versions with known vulnerabilities are not in use', () => {
  for (const [name, floor] of Object.entries(FLOORS)) {
    const installed = String(lock.packages[name]?.[0]).slice(name.length + 1)
    expect(`${name} ${installed} ${Bun.semver.order(installed, floor) >= 0}`).toBe(`${name} ${installed} true`)
  }
})

test('an installation runs no script of the project or of a package', () => {
  const hooks = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare']
  expect(Object.keys(manifest.scripts ?? {}).filter((name) => hooks.includes(name))).toEqual([])
  // The list must be present, because without it Bun trusts packages of its own list.
  expect(manifest.trustedDependencies).toEqual([])
})

test('an install in an empty folder runs no script of any package', async () => {
  using folder = temporaryFolder()
  for (const name of ['package.json', 'bun.lock']) copyFileSync(name, folder.file(name))
  // The first of these programs in the PATH would run the scripts.
  for (const program of ['sh', 'bash', 'node', 'npm']) {
    writeFileSync(folder.file(program), `#!/bin/bash\necho "$0 $*" >> '${folder.file('ran')}'\n`)
    chmodSync(folder.file(program), 0o755)
  }
  const environment = { PATH: `${folder.path}:${process.env['PATH'] ?? ''}`, HOME: process.env['HOME'] ?? '' }
  const install = [process.execPath, 'install', '--frozen-lockfile']
  const { code, stderr } = await finished(install, environment, folder.path)
  expect({ code, stderr }).toMatchObject({ code: 0 })
  expect(existsSync(folder.file('node_modules/swagger-ui-dist'))).toBe(true)
  expect(existsSync(folder.file('ran')) ? readFileSync(folder.file('ran'), 'utf8') : '').toBe('')
})

test('every start installs exactly the lockfile', () => {
  for (const name of ['prestart', 'pretest']) expect(manifest.scripts?.[name]).toContain('--frozen-lockfile')
  if (existsSync('Dockerfile'))
    expect(readFileSync('Dockerfile', 'utf8')).toMatch(/bun install [^\n]*--frozen-lockfile/)
})
