import { existsSync } from 'node:fs'
import type { Platform } from '../platform.ts'
import manifest from '../../package.json' with { type: 'json' }

/** A package of bun.lock: name@version, registry, details, hash. */
type Locked = [id: string, registry: string, details: Details, integrity: string]

interface Details {
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  optionalPeers?: string[]
}

type Packages = Record<string, Locked>

/** Where the packages of a lock file are installed. */
interface Place {
  packages: Packages
  folder: string
}

/** What the executables are made of, with versions, hashes and licenses, as CycloneDX 1.6 (ECMA-424). */
export async function dependencyList(version: string, platforms: readonly Platform[]): Promise<string> {
  const ours = await placeOf('.')
  const parts = await placeOf('scripts/platforms')
  const found = [
    ...dependenciesOf(ours.packages).map((path) => componentOf(ours, path)),
    ...platforms.flatMap(({ addon, bun }) => [addon, bun]).map((path) => componentOf(parts, path)),
  ]
  // Several packages may each have the same version of another.
  const distinct = new Map((await Promise.all(found)).map((component) => [component.purl, component]))
  const components = [...distinct.values()].toSorted((a, b) => (a.purl < b.purl ? -1 : 1))
  const sgw = { type: 'application', 'bom-ref': 'sgw', name: 'sgw', version, licenses: [licenceOf(manifest.license)] }
  // Without a time and a serial number, so that a commit has one list.
  const list = { bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, metadata: { component: sgw }, components }
  return `${JSON.stringify(list, null, 2)}\n`
}

/** What our dependencies need, as it is installed here. `path` is that of the lock file. */
export async function installedDependencies(): Promise<{ path: string; folder: string }[]> {
  const { packages, folder } = await placeOf('.')
  return dependenciesOf(packages).map((path) => ({ path, folder: `${folder}/${installedAt(path)}` }))
}

async function placeOf(folder: string): Promise<Place> {
  const { packages } = Bun.JSONC.parse(await Bun.file(`${folder}/bun.lock`).text()) as { packages: Packages }
  return { packages, folder: `${folder}/node_modules` }
}

/** The paths in the lock file of everything that our dependencies need. The addons of the database are added by platform. */
function dependenciesOf(packages: Packages): string[] {
  const reached = new Set<string>()
  const reach = (path: string): void => {
    const [, , details] = packages[path] ?? []
    if (details === undefined || reached.has(path)) return
    reached.add(path)
    const { dependencies = {}, peerDependencies = {}, optionalPeers = [] } = details
    const peers = Object.keys(peerDependencies).filter((name) => !optionalPeers.includes(name))
    for (const name of [...Object.keys(dependencies), ...peers]) reach(resolved(packages, path, name))
  }
  for (const name of Object.keys(manifest.dependencies)) reach(name)
  return [...reached]
}

/** A package that is in the lock file as `a/b` is b for a alone. */
function resolved(packages: Packages, from: string, name: string): string {
  for (let path = from; path !== ''; path = path.replace(/\/?(@[^/]+\/)?[^/]+$/, ''))
    if (packages[`${path}/${name}`] !== undefined) return `${path}/${name}`
  return name
}

async function componentOf({ packages, folder }: Place, path: string) {
  const [id = '', , , integrity = ''] = packages[path] ?? []
  const [, scope, name = '', version = ''] = /^(?:(@[^/]+)\/)?(.+)@([^@]+)$/.exec(id) ?? []
  const purl = `pkg:npm/${scope === undefined ? '' : `${encodeURIComponent(scope)}/`}${name}@${version}`
  return {
    type: 'library',
    'bom-ref': purl,
    ...(scope === undefined ? {} : { group: scope }),
    name,
    version,
    hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') }],
    licenses: [licenceOf(await statedLicence(`${folder}/${installedAt(path)}/package.json`))],
    purl,
  }
}

/** `a/@s/b` of the lock file is in `a/node_modules/@s/b`. */
const installedAt = (path: string): string => path.replace(/(?<!@[^/]*)\//g, '/node_modules/')

async function statedLicence(file: string): Promise<string> {
  if (!existsSync(file)) throw new Error(`${file} is not installed: run bun install first`)
  const { license } = (await Bun.file(file).json()) as { license?: string }
  if (typeof license !== 'string') throw new Error(`${file} states no licence: look it up, and name it here`)
  return license
}

const licenceOf = (text: string) => (/\s/.test(text) ? { expression: text } : { license: { id: text } })
