import { dirname, join, relative, resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import type { PageFile } from '../api/http/served-file.ts'

const FOLDER = join(import.meta.dir, 'page')
const CLIENT = join(import.meta.dir, '../client')

/** Where the files begin that are loaded when they are first needed: `messages/messages-view.tsx` becomes `messages.js`. */
const VIEWS = [
  'overview/overview-view.tsx',
  'messages/messages-view.tsx',
  'messages/message-view.tsx',
  'messages/message-suggestions-view.tsx',
  'messages/raw-events-view.tsx',
  'messages/empty-view.tsx',
  'conversations/conversations-view.tsx',
  'conversations/conversation-view.tsx',
  'phone/phone-view.tsx',
  'phone/trace-view.tsx',
  'webhooks/webhooks-view.tsx',
  'webhooks/webhook-view.tsx',
  'webhooks/attempt-suggestions-view.tsx',
  'setup/setup-view.tsx',
  'facts/rail-counts-view.tsx',
  'panels/panels-view.tsx',
  'sign-in/sign-in-view.tsx',
] as const

/**
 * Bundles the page from its source, in about 60 ms. In an executable there is no source and no bundler: the build replaces this
 * module by one that has the files (scripts/build.ts).
 */
export async function bundlePage(): Promise<PageFile[]> {
  const views = await Promise.all(VIEWS.map((path) => script(path, [frameImports, separateViews, adoptedStyles])))
  const needed = new Set(views.flatMap(({ bytes }) => importedNames(new TextDecoder().decode(bytes))))
  const frame = await script('main.tsx', [await frameExports(needed), separateViews, adoptedStyles])
  const html = await Bun.file(join(FOLDER, 'index.html')).bytes()
  return [
    frame,
    ...views,
    await script('theme.ts', []),
    { name: 'index.html', type: 'text/html; charset=utf-8', bytes: html },
  ]
}

async function script(path: string, plugins: BunPlugin[]): Promise<PageFile> {
  const { outputs } = await Bun.build({
    entrypoints: [join(FOLDER, path)],
    target: 'browser',
    format: 'esm',
    minify: true,
    jsx: { runtime: 'automatic', importSource: 'preact' },
    plugins,
    // Without it JSX is compiled for development, with file names and lines.
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const [output] = outputs
  if (output === undefined) throw new Error(`The bundle of ${path} is empty`)
  return {
    name: `${path.replace(/^.*\/|(-view)?\.tsx?$/g, '')}.js`,
    // The bundler leaves out the space.
    type: output.type.replace(/;(?! )/, '; '),
    bytes: new Uint8Array(await output.arrayBuffer()),
  }
}

/** What a view takes from the frame's file, so that it is loaded once and its state exists once. Other parts go into each view. */
const SHARED = ['frame/*.ts*', 'state/*.ts*', 'parts/{copy,dialog,icon,load-failed,media,phone-number}.ts*'].map(
  (glob) => new Bun.Glob(glob),
)
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  '@preact/signals': ['computed', 'effect', 'signal', 'useComputed', 'useSignal'],
  'preact/hooks': ['useEffect', 'useLayoutEffect', 'useMemo', 'useRef'],
  'preact/jsx-runtime': ['Fragment', 'jsx', 'jsxs'],
  '../../client/client.ts': ['Sgw', 'SgwError'],
}

/** Bun's own splitting makes a file of each combination of views that share something: five views would need a dozen requests. */
const frameImports: BunPlugin = {
  name: 'imports from the frame',
  setup(builder) {
    builder.onResolve({ filter: /^\.|^@?preact/ }, ({ path, importer }) =>
      !path.startsWith('.') || isShared(resolve(dirname(importer), path))
        ? { path: './main.js', external: true }
        : undefined,
    )
  },
}

const isShared = (path: string): boolean =>
  path.startsWith(CLIENT) || SHARED.some((glob) => glob.match(relative(FOLDER, path).replaceAll('\\', '/')))

/** The names that a bundled view imports from the frame. */
const importedNames = (text: string): string[] =>
  [...text.matchAll(/import\{([^}]*)\}from"\.\/main\.js"/g)].flatMap(([, names = '']) =>
    names.split(',').map((name) => name.replace(/ as .*/, '')),
  )

/** Adds what views need to the frame's file, and nothing else. */
async function frameExports(needed: ReadonlySet<string>): Promise<BunPlugin> {
  const own = await Promise.all(
    SHARED.flatMap((glob) => [...glob.scanSync(FOLDER)]).map(
      async (path) => [`./${path}`, await exportedBy(path)] as const,
    ),
  )
  const sources = [...own, ...Object.entries(LIBRARIES)].toSorted(([a], [b]) => a.localeCompare(b))
  const missing = [...needed].filter((name) => !sources.some(([, names]) => names.includes(name)))
  if (missing.length > 0) throw new Error(`Views need what the frame's file does not export: ${missing.join(', ')}`)
  const lines = sources.map(
    ([path, names]) => `export { ${names.filter((name) => needed.has(name)).join(', ')} } from '${path}'`,
  )
  return {
    name: 'exports of the frame',
    setup(builder) {
      builder.onLoad({ filter: /[\\/]page[\\/]main\.tsx$/ }, async ({ path }) => ({
        contents: [await Bun.file(path).text(), ...lines].join('\n'),
        loader: 'tsx',
      }))
    },
  }
}

const exportedBy = async (path: string): Promise<string[]> =>
  new Bun.Transpiler({ loader: 'tsx' }).scan(await Bun.file(join(FOLDER, path)).text()).exports

const separateViews: BunPlugin = {
  name: 'views in files of their own',
  setup(builder) {
    builder.onResolve({ filter: /^\..*-view\.tsx$/ }, ({ path }) => ({
      path: path.replace(/^.*\/(.+)-view\.tsx$/, './$1.js'),
      external: true,
    }))
  },
}

/** A file brings its styles, because each style sheet would be a request. Bun's bundler would rewrite `light-dark()` for old browsers. */
const adoptedStyles: BunPlugin = {
  name: 'styles',
  setup(builder) {
    builder.onLoad({ filter: /\.css$/ }, async ({ path }) => ({
      contents: `
        const sheet = new CSSStyleSheet()
        sheet.replaceSync(${JSON.stringify(compact(await Bun.file(path).text()))})
        document.adoptedStyleSheets.push(sheet)`,
      loader: 'js',
    }))
  },
}

/** Without comments, indentation, and the space and semicolons that mean nothing. */
const compact = (css: string): string =>
  css
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,>]) ?/g, '$1')
    .replaceAll(': ', ':')
    .replaceAll(';}', '}')
