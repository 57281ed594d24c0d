import { statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import type { PageFile } from '../api/http/served-file.ts'
import { clientOfPage } from './client-of-page.ts'

const FOLDER = join(import.meta.dir, 'page')
const CLIENT = join(import.meta.dir, '../client')
const TRAITS = join(import.meta.dir, '../operator/conditions/traits.ts')

/** The entry points of files that are loaded on first use: `messages/messages-view.tsx` becomes `messages.js`. */
const VIEWS = [
  'all/all-view.tsx',
  'overview/overview-view.tsx',
  'overview/usage-view.tsx',
  'overview/checks-view.tsx',
  'messages/messages-view.tsx',
  'messages/message-view.tsx',
  'messages/reasons-view.tsx',
  'messages/message-suggestions-view.tsx',
  'messages/empty-view.tsx',
  'messages/looked-view.tsx',
  'conversations/conversations-view.tsx',
  'conversations/conversation-view.tsx',
  'phone/phone-view.tsx',
  'phone/trace-view.tsx',
  'thread/attached-view.tsx',
  'thread/pictures-view.tsx',
  'webhooks/webhooks-view.tsx',
  'webhooks/webhook-view.tsx',
  'webhooks/attempt-suggestions-view.tsx',
  'setup/setup-view.tsx',
  'facts/rail-counts-view.tsx',
  'facts/cures-view.tsx',
  'panels/panels-view.tsx',
  'sign-in/sign-in-view.tsx',
] as const

/**
 * Bundles the page from its source, in about 100 ms. An executable has neither source nor bundler: the build replaces this module with one
 * that has the files (scripts/build.ts).
 */
export async function bundlePage(): Promise<PageFile[]> {
  const names = await Promise.all(VIEWS.map(namesFromFrame))
  const short = shortNames(names.flat())
  const views = VIEWS.map((path, index) =>
    script(path, [elements, frameImports(names[index] ?? [], short), ...PLUGINS]),
  )
  const html = await Bun.file(join(FOLDER, 'index.html')).bytes()
  return [
    await script('main.tsx', [await frameExports(short), await clientOfPage(FOLDER), elements, ...PLUGINS]),
    ...(await Promise.all(views)),
    await script('theme.ts', []),
    { name: 'index.html', type: 'text/html; charset=utf-8', bytes: html },
  ]
}

/** Identifies the source of the bundle: differs after any change of a file. */
export function sourceState(): string {
  const stateOf = (path: string): string => {
    const { mtimeMs, size } = statSync(path)
    return `${path} ${mtimeMs} ${size}`
  }
  const paths = [FOLDER, CLIENT].flatMap((cwd) => [...new Bun.Glob('**/*').scanSync({ cwd, absolute: true })])
  return [...paths, TRAITS].map(stateOf).toSorted().join('\n')
}

async function script(path: string, plugins: BunPlugin[]): Promise<PageFile> {
  const sheets = new Map<string, string>()
  const { outputs } = await Bun.build({
    entrypoints: [join(FOLDER, path)],
    target: 'browser',
    format: 'esm',
    minify: true,
    plugins: [...plugins, collectStyles(sheets)],
  })
  const [output] = outputs
  if (output === undefined) throw new Error(`The bundle of ${path} is empty`)
  return {
    name: `${path.replace(/^.*\/|(-view)?\.tsx?$/g, '')}.js`,
    // The bundler omits the space.
    type: output.type.replace(/;(?! )/, '; '),
    bytes: new TextEncoder().encode(`${await output.text()}${adopted(sheets)}`),
  }
}

/**
 * The modules that views share through the frame's file, so that they are loaded once and their state exists once. Other parts go into each
 * view.
 */
const SHARED = ['frame/*.ts*', 'state/*.ts*', 'parts/{copy,dialog,icon,load-failed,media,phone-number}.ts*'].map(
  (glob) => new Bun.Glob(glob),
)
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  '@preact/signals': ['computed', 'effect', 'signal', 'useComputed', 'useSignal'],
  preact: ['Fragment', 'h'],
  'preact/hooks': ['useEffect', 'useLayoutEffect', 'useMemo', 'useRef'],
  '../../client/client.ts': ['Sgw', 'SgwError'],
}

/** The names that a view takes from the frame, found by bundling it without the frame. */
async function namesFromFrame(path: string): Promise<string[]> {
  const { bytes } = await script(path, [elements, frameImports(null, new Map()), ...PLUGINS])
  const lists = new TextDecoder().decode(bytes).matchAll(/import\{([^}]*)\}from"\.\/main\.js"/g)
  return [...lists].flatMap(([, names = '']) => names.split(',').map((name) => name.replace(/ as .*/, '')))
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** Names between the files are as short as those within them: a letter, or `$` and a letter, and so on. */
const shortNames = (names: readonly string[]): Map<string, string> =>
  new Map(
    [...new Set(names)]
      .toSorted()
      .map((name, index) => [name, '$'.repeat(index / LETTERS.length) + LETTERS[index % LETTERS.length]]),
  )

/**
 * Bun's own splitting makes a file of each combination of views that share something: five views would need a dozen requests. All modules of a
 * view import from the frame through one module, so that it is imported once. Without `names` they use its long names.
 */
const frameImports = (names: readonly string[] | null, short: ReadonlyMap<string, string>): BunPlugin => ({
  name: 'imports from the frame',
  setup(builder) {
    const frame = { path: './main.js', external: true }
    const shared = names === null ? frame : { path: 'frame', namespace: 'frame' }
    builder.onResolve({ filter: /^\.|^@?preact/ }, ({ path, importer }) => {
      if (importer === 'frame') return frame
      return !path.startsWith('.') || isShared(resolve(dirname(importer), path)) ? shared : undefined
    })
    const list = [...new Set(names)].map((name) => `${short.get(name) ?? name} as ${name}`)
    builder.onLoad({ filter: /./, namespace: 'frame' }, () => ({
      contents: `export { ${list.join(', ')} } from './main.js'`,
      loader: 'js',
    }))
  },
})

const isShared = (path: string): boolean =>
  path.startsWith(CLIENT) || SHARED.some((glob) => glob.match(relative(FOLDER, path).replaceAll('\\', '/')))

/** Adds exports that views need to the frame's file, under short names, and nothing else. */
async function frameExports(short: ReadonlyMap<string, string>): Promise<BunPlugin> {
  const own = await Promise.all(
    SHARED.flatMap((glob) => [...glob.scanSync(FOLDER)]).map(
      async (path) => [`./${path}`, await exportedBy(path)] as const,
    ),
  )
  const sources = [...own, ...Object.entries(LIBRARIES)].toSorted(([a], [b]) => a.localeCompare(b))
  const missing = [...short.keys()].filter((name) => !sources.some(([, names]) => names.includes(name)))
  if (missing.length > 0) throw new Error(`Views need what the frame's file does not export: ${missing.join(', ')}`)
  const lines = sources.map(([path, names]) => {
    const list = names.flatMap((name) => (short.has(name) ? [`${name} as ${short.get(name)}`] : []))
    return `export { ${list.join(', ')} } from '${path}'`
  })
  return {
    name: 'exports of the frame',
    setup(builder) {
      builder.onLoad({ filter: /[\\/]page[\\/]main\.tsx$/ }, async ({ path }) => ({
        contents: [ELEMENTS, await Bun.file(path).text(), ...lines].join('\n'),
        loader: 'tsx',
      }))
    },
  }
}

const exportedBy = async (path: string): Promise<string[]> =>
  new Bun.Transpiler({ loader: 'tsx' }).scan(await Bun.file(join(FOLDER, path)).text()).exports

/**
 * JSX becomes calls of `h`, which Preact needs anyway. The automatic runtime adds its own function and writes `children` at each element.
 */
const ELEMENTS = `/** @jsxRuntime classic */ /** @jsx h */ /** @jsxFrag Fragment */
import { Fragment, h } from 'preact'`

const elements: BunPlugin = {
  name: 'elements',
  setup(builder) {
    builder.onLoad({ filter: /[\\/]page[\\/].*\.tsx$/ }, async ({ path }) => ({
      contents: [ELEMENTS, await Bun.file(path).text()].join('\n'),
      loader: 'tsx',
    }))
  },
}

const separateViews: BunPlugin = {
  name: 'views in files of their own',
  setup(builder) {
    builder.onResolve({ filter: /^\..*-view\.tsx$/ }, ({ path }) => ({
      path: path.replace(/^.*\/(.+)-view\.tsx$/, './$1.js'),
      external: true,
    }))
  },
}

/** Takes the style sheets that a file imports, by their paths. Bun's bundler would rewrite `light-dark()` for old browsers. */
const collectStyles = (sheets: Map<string, string>): BunPlugin => ({
  name: 'styles',
  setup(builder) {
    builder.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      sheets.set(path, compact(await Bun.file(path).text()))
      return { contents: '', loader: 'js' }
    })
  },
})

/** A file has its styles as one sheet, because each sheet would be a request. The tokens' sheet orders the layers, so it comes first. */
function adopted(sheets: ReadonlyMap<string, string>): string {
  if (sheets.size === 0) return ''
  const paths = [...sheets.keys()].toSorted().toSorted((a, b) => Number(isTokens(b)) - Number(isTokens(a)))
  const css = paths.map((path) => sheets.get(path)).join('')
  return `{const s=new CSSStyleSheet;s.replaceSync(${JSON.stringify(css)});document.adoptedStyleSheets.push(s)}`
}

const isTokens = (path: string): boolean => path.endsWith('tokens.css')

/** Removes comments, indentation, and redundant spaces, semicolons and zeros. */
const compact = (css: string): string =>
  css
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,<>=]) ?/g, '$1')
    .replaceAll(': ', ':')
    .replaceAll(/\b0(?=\.\d)/g, '')
    .replaceAll(';}', '}')

const PLUGINS = [separateViews]
