import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The entry point of a package export, and how its types are written. */
export interface TypesOf {
  /** From the repository's root: `src/client/client.ts`. */
  entry: string
  /** Options of tsc. */
  options: readonly string[]
  /** Names that come from another file of the package, `./client.js`, by its own types. */
  elsewhere?: { file: string; names: ReadonlySet<string> }
}

/** A declaration with the comment above it. */
interface Declaration {
  name: string
  text: string
  isExported: boolean
}

/** The declarations of a file as tsc writes them, and what it exports from other files. */
interface File {
  declarations: Declaration[]
  exports: { names: string; path: string }[]
}

/**
 * The types that an entry point exports, and all that they need, as one text. It imports at most the file of `elsewhere`, so an
 * editor needs no other package to show them. Also returns the exported names.
 */
export async function bundledTypes({
  entry,
  options,
  elsewhere,
}: TypesOf): Promise<{ text: string; names: Set<string> }> {
  const files = await emitted(entry, options)
  const names = new Set((files.get(entry)?.exports ?? []).flatMap((found) => namesOf(found, files)))
  const known = new Map([...files.values()].flatMap((file) => file.declarations.map((found) => [found.name, found])))
  const [kept, imported] = [new Set<Declaration>(), new Set<string>()]
  const keep = (name: string): void => {
    const declaration = known.get(name)
    if (elsewhere?.names.has(name) === true) imported.add(name)
    else if (declaration !== undefined && !kept.has(declaration)) {
      kept.add(declaration)
      for (const [word] of declaration.text.replace(/\/\*.*?\*\/|'[^'\n]*'/gs, '').matchAll(/\w+/g)) keep(word)
    }
  }
  names.forEach(keep)
  const imports = imported.size === 0 ? '' : `import type { ${[...imported].join(', ')} } from '${elsewhere?.file}'\n`
  const texts = [...known.values()]
    .filter((found) => kept.has(found))
    .map(({ name, text }) => (names.has(name) ? text.replace(KEYWORD, 'export $&') : text))
  return { text: `${imports}${texts.join('')}export {}\n`, names }
}

const KEYWORD = /^(?:declare|interface|type)\b/m
/** Where a declaration begins: at its comment if it has one. */
const START =
  /^(?=\/\*\*(?:(?!\*\/).)*\*\/\n(?:export|declare|interface|type) )|(?<!\*\/\n)^(?=(?:export|declare|interface|type|import) )/ms
const NAME = /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|function|const) (\w+)/m
const IMPORTED = /^import .* from '(\.[^']+)';$/gm
const FROM_FILE = /^export (?:type )?(.*) from '(\.[^']+)';$/gm

function namesOf({ names, path }: File['exports'][number], files: ReadonlyMap<string, File>): string[] {
  if (names !== '*') return [...names.replace(/\btype\b/g, '').matchAll(/\w+/g)].map(([name]) => name)
  return (files.get(path)?.declarations ?? []).filter((found) => found.isExported).map((found) => found.name)
}

async function emitted(entry: string, options: readonly string[]): Promise<Map<string, File>> {
  const folder = await mkdtemp(join(tmpdir(), 'sgw-types-'))
  try {
    const command = `node_modules/.bin/tsc --ignoreConfig --strict --declaration --emitDeclarationOnly --target esnext
      --allowImportingTsExtensions --resolveJsonModule --module esnext --moduleResolution bundler --rootDir .`
    const { exitCode, stdout } = Bun.spawnSync([...command.split(/\s+/), ...options, '--outDir', folder, entry])
    if (exitCode !== 0) throw new Error(`The types of ${entry} cannot be written:\n${stdout.toString()}`)
    const files = new Map<string, File>()
    const read = async (path: string): Promise<void> => {
      if (files.has(sourceOf(path))) return
      const text = await Bun.file(join(folder, path)).text()
      files.set(sourceOf(path), parse(path, text))
      // A declaration imports only what its types name.
      for (const [, other = ''] of text.matchAll(IMPORTED)) await read(declaredIn(join(path, '..', other)))
    }
    for (const path of [...new Bun.Glob(`${dirname(entry)}/*.d.ts`).scanSync(folder)].toSorted()) await read(path)
    return files
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const sourceOf = (path: string): string => path.replace(/\.d\.ts$/, '.ts')
const declaredIn = (path: string): string => path.replace(/\.ts$/, '.d.ts')

function parse(path: string, text: string): File {
  const texts = text.split(START)
  return {
    exports: [...text.matchAll(FROM_FILE)].map(([, names = '', file = '']) => ({
      names,
      path: join(path, '..', file),
    })),
    declarations: texts.flatMap((declaration) => {
      const [, name] = NAME.exec(declaration) ?? []
      if (name === undefined) return []
      return [{ name, text: declaration.replace(/^export /m, ''), isExported: /^export /m.test(declaration) }]
    }),
  }
}
