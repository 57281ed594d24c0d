import { existsSync } from 'node:fs'
import type { BunPlugin } from 'bun'
import { bundlePage } from '../src/console/bundle.ts'
import type { PageFile } from '../src/api/http/served-file.ts'
import type { Parts, Platform } from './platform.ts'

/** Builds `FOLDER/cli.js` and its chunks: the gateway without Bun. */
export async function buildBundle(folder: string, parts: Parts, commit: string): Promise<void> {
  await checked(Bun.build({ ...(await common(parts, commit)), target: 'bun', outdir: folder }))
}

/** Builds one executable: server, commands, migrations, documentation page. On Windows its name ends in `.exe`. */
export async function buildExecutable(path: string, platform: Platform, parts: Parts, commit: string): Promise<void> {
  await checked(
    Bun.build({
      ...(await common(parts, commit)),
      // Compiled ahead: a start takes half the time. Bun has it for modules only inside an executable.
      bytecode: true,
      compile: {
        target: `bun-${platform.name}` as Bun.Build.CompileTarget,
        outfile: path,
        autoloadBunfig: false,
        ...(parts.bun === null ? {} : { executablePath: parts.bun }),
      },
    }),
  )
}

async function common(parts: Parts, commit: string) {
  return {
    // Each thread has an entry point of its own.
    entrypoints: ['src/cli.ts', 'src/db/reader-thread.ts', 'src/operator/lease/renewal-thread.ts'],
    // What is loaded when first used stays a file of its own, so that a start does not read it.
    splitting: true,
    format: 'esm' as const,
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    minify: true,
    sourcemap: 'none' as const,
    plugins: [staticAddon(parts.addon), embeddedConsole(await bundlePage()), embeddedCommit(commit)],
  }
}

async function checked(running: Promise<Bun.BuildOutput>): Promise<void> {
  const { success, logs } = await running
  if (!success) throw new AggregateError(logs, 'The build failed')
}

/**
 * The driver picks its addon by a computed name, which no bundler can follow: away from node_modules it would not be
 * found (oven-sh/bun#18909). Its folder is left out, so that the same commit makes the same file in every checkout.
 */
function staticAddon(addon: string): BunPlugin {
  return {
    name: 'libsql addon',
    setup(builder) {
      builder.onLoad({ filter: /node_modules\/libsql\/index\.js$/ }, async ({ path }) => {
        const source = await Bun.file(path).text()
        const contents = source
          .replace('= requireNative();', `= require(${JSON.stringify(addon)});`)
          .replace('load(__dirname)', "load('')")
        if (!contents.includes(JSON.stringify(addon)) || contents.includes('__dirname'))
          throw new Error('libsql loads its addon in another way now: look at its index.js')
        return { contents, loader: 'js' }
      })
    },
  }
}

/** An executable has neither the page's source nor a bundler. The page is bundled before this build starts: a nested build would never end. */
function embeddedConsole(files: readonly PageFile[]): BunPlugin {
  const embedded = files.map(({ name, type, bytes }) => ({ name, type, base64: Buffer.from(bytes).toString('base64') }))
  const contents = `
    const FILES = ${JSON.stringify(embedded)}
    export const sourceState = () => ''
    export const bundlePage = async () =>
      FILES.map(({ name, type, base64 }) => ({ name, type, bytes: Uint8Array.fromBase64(base64) }))`
  return replacement('src/console/bundle.ts', contents)
}

/** An executable is away from the checkout, so it carries its commit. */
function embeddedCommit(commit: string): BunPlugin {
  const known = commit === '' ? null : commit.slice(0, 7)
  return replacement('src/core/build.ts', `export const COMMIT = ${JSON.stringify(known)}`)
}

/** Replaces a module of ours. A path that does not exist is refused: its plug-in would silently do nothing. */
function replacement(path: string, contents: string): BunPlugin {
  if (!existsSync(path)) throw new Error(`The build replaces ${path}, which does not exist`)
  const filter = new RegExp(`${path.replaceAll('.', String.raw`\.`).replaceAll('/', String.raw`[\\/]`)}$`)
  return {
    name: `replacement of ${path}`,
    setup(builder) {
      builder.onLoad({ filter }, () => ({ contents, loader: 'ts' }))
    },
  }
}
