import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { installedDependencies } from './release/dependencies.ts'

// bun scripts/licences.ts FILE   writes the licenses of what the executables and the image contain

export const LICENCES_FILE = 'THIRD-PARTY-LICENSES.txt'

interface Manifest {
  name: string
  version: string
  license?: string
  author?: string | { name: string }
  repository?: string | { url: string }
}

/** A package with the texts of its license; empty if it only names the license. */
interface Licensed extends Manifest {
  texts: string[]
}

/** The licenses of all production dependencies, by name. The same lock file makes the same text. */
export async function thirdPartyLicences(): Promise<string> {
  const found = await Promise.all((await installedDependencies()).map(({ folder }) => read(folder)))
  // Several packages may each have the same version of another.
  const distinct = new Map(found.map((one) => [`${one.name} ${one.version}`, one]))
  const sorted = [...distinct].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, each]) => each)
  return [introduction(), ...sorted.map((each) => sectionOf(each, sorted))].join(`\n${'='.repeat(80)}\n\n`)
}

const introduction = (): string => `Third-party software in sgw

The executables, the container image and the package of sgw contain or need the packages below, each with its licence.

The executables and the image also contain Bun ${Bun.version}, under the MIT License, and what Bun is linked with, such as
JavaScriptCore under the LGPL 2: https://github.com/oven-sh/bun/blob/bun-v${Bun.version}/LICENSE.md names their licences, and says
how to link it with another JavaScriptCore.

The native addon of libsql contains libSQL, under the MIT License (https://github.com/tursodatabase/libsql), and SQLite, which is
in the public domain. The image also has Debian's packages, with their licences in /usr/share/doc, and Litestream, under the
Apache License 2.0 (https://github.com/benbjohnson/litestream).
`

async function read(folder: string): Promise<Licensed> {
  if (!existsSync(folder)) throw new Error(`${folder} is not installed: run bun install first`)
  const manifest = (await Bun.file(join(folder, 'package.json')).json()) as Manifest
  const names = (await readdir(folder)).filter((name) => /^(licen[cs]e|copying|notice)|\.licen[cs]e\.txt$/i.test(name))
  const texts = await Promise.all(names.toSorted().map((name) => Bun.file(join(folder, name)).text()))
  return { ...manifest, texts: texts.map(plain) }
}

const plain = (text: string): string => `${text.replaceAll('\r\n', '\n').trim()}\n`

function sectionOf(one: Licensed, all: readonly Licensed[]): string {
  const { name, version, license = '', repository, texts } = one
  const address =
    typeof repository === 'object' ? repository.url : (repository ?? `https://www.npmjs.com/package/${name}`)
  const head = `${name} ${version}\nLicence: ${license}\nSource: ${address}\n`
  return [head, ...(texts.length > 0 ? texts : [standardText(one, all)])].join('\n')
}

/** Packages whose license text is used for packages that only name the same license. */
const EXAMPLES: Readonly<Record<string, string>> = { MIT: 'pino', ISC: 'split2', 'Apache-2.0': '@opentelemetry/api' }

function standardText({ name, license = '', author }: Licensed, all: readonly Licensed[]): string {
  const [text] = all.find((other) => other.name === EXAMPLES[license])?.texts ?? []
  if (text === undefined)
    throw new Error(`${name} has no text of its licence ${license}: look it up, and add an example`)
  const named = typeof author === 'object' ? author.name : (author ?? `the authors of ${name}`)
  const holder = named.replace(/ *<.*/, '')
  return `By ${holder}. The package has no text of its licence; this is the text of ${license}:\n\n${plain(withoutHolder(text))}`
}

const withoutHolder = (text: string): string => text.replaceAll(/^Copyright \(c\).*\n+/gim, '')

if (import.meta.main) {
  const [file] = process.argv.slice(2)
  if (file === undefined) throw new Error('Name the file: bun scripts/licences.ts FILE')
  await Bun.write(file, await thirdPartyLicences())
}
