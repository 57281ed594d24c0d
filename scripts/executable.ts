import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { brotliCompressSync } from 'node:zlib'
import type { BunPlugin } from 'bun'
import { bundlePage } from '../src/console/bundle.ts'
import type { PageFile } from '../src/api/http/served-file.ts'
import type { Parts, Platform } from './platform.ts'

/** Builds `FOLDER/cli.js` and its chunks: the gateway without Bun. */
export async function buildBundle(folder: string, parts: Parts, commit: string): Promise<void> {
  await build(commit, (options) => ({
    ...options,
    plugins: [staticAddon(parts.addon), ...options.plugins],
    target: 'bun',
    outdir: folder,
  }))
}

/** Builds the same for the npm package, with the test kit, `testing.js`. npm installs `installed` beside it. */
export async function buildPackageBundle(folder: string, commit: string, installed: readonly string[]): Promise<void> {
  await build(commit, (options) => ({
    ...options,
    entrypoints: [...options.entrypoints, 'src/testing/index.ts'],
    external: [...installed],
    plugins: [sameClient, ...options.plugins],
    target: 'bun',
    outdir: folder,
  }))
  await rename(`${folder}/index.js`, `${folder}/testing.js`)
}

/** Builds one executable: server, commands, migrations, documentation page. On Windows its name ends in `.exe`. */
export async function buildExecutable(path: string, platform: Platform, parts: Parts, commit: string): Promise<void> {
  await build(commit, (options) => ({
    ...options,
    plugins: [staticAddon(parts.addon), ...options.plugins],
    // Compiled ahead: a start takes half the time. Bun supports this for modules only inside an executable.
    bytecode: true,
    compile: {
      target: `bun-${platform.name}` as Bun.Build.CompileTarget,
      outfile: path,
      autoloadBunfig: false,
      ...(parts.bun === null ? {} : { executablePath: parts.bun }),
    },
  }))
}

type Common = ReturnType<typeof common>

async function build(commit: string, withOwn: (options: Common) => Bun.BuildConfig): Promise<void> {
  const plugins = [embeddedConsole(await bundlePage()), embeddedCommit(commit), compressedDocs, noScalar]
  const { success, logs } = await Bun.build(withOwn(common(plugins)))
  if (!success) throw new AggregateError(logs, 'The build failed')
}

const common = (plugins: BunPlugin[]) => ({
  // Each thread has an entry point of its own.
  entrypoints: ['src/cli.ts', 'src/db/reader-thread.ts', 'src/operator/lease/renewal-thread.ts'],
  // What is loaded when first used stays a file of its own, so that a start does not read it.
  splitting: true,
  format: 'esm' as const,
  naming: { entry: '[name].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
  minify: true,
  sourcemap: 'none' as const,
  plugins,
})

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

/** A program that imports the kit and the client gets one `Sgw`, so that `instanceof` holds. */
const sameClient: BunPlugin = {
  name: 'client of the package',
  setup(builder) {
    builder.onResolve({ filter: /\/client\/client\.ts$/ }, () => ({ path: '../client.js', external: true }))
  },
}

/**
 * A build has neither the page's source nor a bundler. Its files are compressed together, because they are much alike. The page is
 * bundled before this build starts: a nested build would never end.
 */
function embeddedConsole(files: readonly PageFile[]): BunPlugin {
  const texts = files.map(({ name, type, bytes }) => ({ name, type, text: new TextDecoder().decode(bytes) }))
  const contents = `
    import { brotliDecompressSync } from 'node:zlib'
    const FILES = ${JSON.stringify(brotliCompressSync(JSON.stringify(texts)).toString('base64'))}
    export const sourceState = () => ''
    export const bundlePage = async () =>
      JSON.parse(brotliDecompressSync(Buffer.from(FILES, 'base64')).toString()).map(({ name, type, text }) => ({
        name, type, bytes: new TextEncoder().encode(text),
      }))`
  return replacement('src/console/bundle.ts', contents)
}

/** Swagger UI's files, which are two thirds of the package without this. `docs-page.ts` knows them by the end of their names. */
const compressedDocs: BunPlugin = {
  name: 'compressed files of Swagger UI',
  setup(builder) {
    const namespace = 'compressed'
    builder.onResolve({ filter: /^swagger-ui-dist\// }, ({ path }) => ({ path: `${path}.br`, namespace }))
    builder.onLoad({ filter: /./, namespace }, async ({ path }) => {
      const bytes = await Bun.file(`node_modules/${path.replace(/\.br$/, '')}`).bytes()
      return { contents: brotliCompressSync(bytes), loader: 'file' }
    })
  },
}

/** The plug-in's other page, Scalar's, is never shown: its theme brings packages and a second zod. */
const noScalar: BunPlugin = {
  name: 'no Scalar',
  setup(builder) {
    const namespace = 'no-scalar'
    builder.onResolve({ filter: /^@scalar\/themes$/ }, ({ path }) => ({ path, namespace }))
    builder.onLoad({ filter: /./, namespace }, () => ({ contents: "export const elysiajsTheme = ''", loader: 'js' }))
  },
}

/** A build is away from the checkout, so it carries its commit. */
function embeddedCommit(commit: string): BunPlugin {
  const known = commit === '' ? null : commit.slice(0, 7)
  return replacement('src/core/build.ts', `export const COMMIT = ${JSON.stringify(known)}`)
}

/** Replaces one of sgw's modules. Refuses a path that does not exist, because its plug-in would silently do nothing. */
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
