import { join } from 'node:path'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'

/** An import, or an export of another file, as tsc prints it. */
const FROM_FILE = /^(?:import|export) (?:type )?(?<names>.*) from '\.\/(?<file>[^']+)\.ts';\n/gm

/**
 * One text with all types that an entry point of a folder exports. It imports nothing, so the package needs no other file to be
 * understood by an editor.
 */
export async function bundledTypes(entry: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sgw-types-'))
  try {
    await emit(entry, folder)
    return await bundle(folder, entry.replace(/^.*\//, '').replace(/\.ts$/, ''))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The library of browsers and no package: whoever imports the client may have nothing else. */
async function emit(entry: string, folder: string): Promise<void> {
  const options = `--ignoreConfig --strict --declaration --emitDeclarationOnly --allowImportingTsExtensions --target esnext
    --module esnext --moduleResolution bundler --lib esnext,dom,dom.iterable,dom.asynciterable`
  const command = ['node_modules/.bin/tsc', ...options.split(/\s+/), '--types', '', '--outDir', folder, entry]
  const { exitCode, stdout } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(`The types of ${entry} cannot be written:\n${stdout.toString()}`)
}

async function bundle(folder: string, entry: string): Promise<string> {
  const texts = new Map<string, string>()
  const read = async (name: string): Promise<void> => {
    const text = await Bun.file(join(folder, `${name}.d.ts`)).text()
    texts.set(name, text)
    for (const { groups } of text.matchAll(FROM_FILE))
      if (groups?.['file'] !== undefined && !texts.has(groups['file'])) await read(groups['file'])
  }
  await read(entry)
  const exported = [...(texts.get(entry) ?? '').matchAll(FROM_FILE)].flatMap(({ groups }) => groups ?? [])
  const isPublic = (name: string) => exported.some(({ names, file }) => names === '*' && file === name)
  const bodies = [...texts].map(([name, text]) => {
    const own = text.replace(FROM_FILE, '').replace(/^export \{\};\n/gm, '')
    return isPublic(name) ? own : own.replace(/^export /gm, '')
  })
  const lists = exported.filter(({ names }) => names !== '*').map(({ names }) => `export ${names};\n`)
  return [...bodies, ...lists].join('')
}
