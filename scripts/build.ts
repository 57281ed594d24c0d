import { existsSync } from 'node:fs'
import { mkdir, rm, stat } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { BunPlugin } from 'bun'
import { COMMIT } from '../src/core/build.ts'
import { bundlePage } from '../src/console/bundle.ts'
import type { PageFile } from '../src/api/http/served-file.ts'

// bun scripts/build.ts [--target linux-arm64] [--out FOLDER] [--bundle-only]
//   --commit HASH  the commit that --version names; by default that of this checkout
//   dist/sgw             one executable: server, commands, migrations, documentation page
//   dist/bundle/cli.js   the same without Bun, for the container image

/** Our name of a platform → the package with the database's native addon for it. */
const ADDONS: Record<string, string> = {
  'linux-x64': '@libsql/linux-x64-gnu',
  'linux-arm64': '@libsql/linux-arm64-gnu',
  'darwin-x64': '@libsql/darwin-x64',
  'darwin-arm64': '@libsql/darwin-arm64',
}

try {
  const { values } = parseArgs({
    options: {
      target: { type: 'string', default: `${process.platform}-${process.arch}` },
      out: { type: 'string', default: 'dist' },
      'bundle-only': { type: 'boolean', default: false },
      commit: { type: 'string', default: COMMIT ?? '' },
    },
  })
  await build(values.target, values.out, values['bundle-only'], values.commit)
} catch (error) {
  const causes = error instanceof AggregateError ? error.errors.map((cause) => `\n${String(cause)}`).join('') : ''
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}${causes}\n`)
  process.exitCode = 1
}

async function build(target: string, folder: string, bundleOnly: boolean, commit: string): Promise<void> {
  const addon = ADDONS[target]
  if (addon === undefined)
    throw new Error(`There is no build for ${target}: use one of ${Object.keys(ADDONS).join(', ')}`)
  demandAddon(addon)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const common = {
    // The reader thread has an entry point of its own.
    entrypoints: ['src/cli.ts', 'src/db/reader-thread.ts'],
    // What is loaded when first used stays a file of its own, so that a start does not read it.
    splitting: true,
    format: 'esm' as const,
    naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    minify: true,
    sourcemap: 'none' as const,
    plugins: [staticAddon(addon), embeddedConsole(await bundlePage()), embeddedCommit(commit)],
  }
  await checked(Bun.build({ ...common, target: 'bun', outdir: `${folder}/bundle` }))
  if (bundleOnly) return
  await checked(
    Bun.build({
      ...common,
      // Compiled ahead: a start takes half the time. Bun has it for modules only inside an executable.
      bytecode: true,
      compile: { target: `bun-${target}` as Bun.Build.CompileTarget, outfile: `${folder}/sgw`, autoloadBunfig: false },
    }),
  )
  const { size } = await stat(`${folder}/sgw`)
  process.stdout.write(`${folder}/sgw ${Math.round(size / 1e6)} MB, ${folder}/bundle/cli.js\n`)
}

function demandAddon(addon: string): void {
  const [, os = '', cpu = ''] = /^@libsql\/(\w+)-(\w+)/.exec(addon) ?? []
  if (!existsSync(`node_modules/${addon}`))
    throw new Error(`${addon} is not installed: run bun install --cpu=${cpu} --os=${os} first`)
}

async function checked(running: Promise<Bun.BuildOutput>): Promise<void> {
  const { success, logs } = await running
  if (!success) throw new AggregateError(logs, 'The build failed')
}

/**
 * The driver picks its addon by a computed name, which no bundler can follow: away from node_modules it would not be
 * found (oven-sh/bun#18909).
 */
function staticAddon(addon: string): BunPlugin {
  return {
    name: 'libsql addon',
    setup(builder) {
      builder.onLoad({ filter: /node_modules\/libsql\/index\.js$/ }, async ({ path }) => {
        const source = await Bun.file(path).text()
        const contents = source.replace('= requireNative();', `= require('${addon}');`)
        if (contents === source) throw new Error('libsql loads its addon in another way now: look at its index.js')
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
