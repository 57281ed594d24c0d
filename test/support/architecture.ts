/**
 * The rules of the source tree as pure functions over source texts. Each returns one line per offence, or an empty list.
 * `test/architecture.test.ts` has the table of layers and applies the rules to the tree.
 */
import { posix } from 'node:path'
import {
  type ExportNamedDeclaration,
  type Expression,
  type ImportDeclaration,
  Visitor,
  type VisitorObject,
  parseSync,
} from 'oxc-parser'

export interface SourceFile {
  /** From the repository's root, with `/`. */
  path: string
  text: string
}

export interface Layer {
  name: string
  /** Globs. A file belongs to the first layer of the table that matches. */
  files: readonly string[]
  /** The names of other layers that it may import. */
  mayImport: readonly string[]
  /** Whether it may import Elysia and its plug-ins. */
  elysia?: boolean
}

export interface Import {
  /** Null if it is computed. */
  specifier: string | null
  /** `type` is an `import type` or `export type`, which does not exist at run time. */
  kind: 'value' | 'type' | 'dynamic'
  line: number
}

/** Files may import only what the table allows, and each must belong to a layer. */
export function wrongWayImports(files: readonly SourceFile[], layers: readonly Layer[]): string[] {
  return files.flatMap((file) => {
    const layer = layerOf(file.path, layers)
    if (layer === undefined) return [`${file.path} belongs to no layer: add it to the table`]
    return importsWithTargets(file).flatMap(({ specifier, line, target }) => {
      const at = `${file.path}:${line}`
      if (specifier === null) return [`${at} computes what it imports: write the path as a string`]
      if (target === null || isAsset(target)) return []
      const other = layerOf(target, layers)
      if (other === layer || (other !== undefined && layer.mayImport.includes(other.name))) return []
      return [`${at} ${layer.name} imports ${other?.name ?? 'a file of no layer'}: ${target}`]
    })
  })
}

export function elysiaImports(files: readonly SourceFile[], layers: readonly Layer[]): string[] {
  return eachImport(files, (file, { specifier }) => {
    if (specifier === null || !/^(elysia|@elysiajs\/[^/]+)(\/|$)/.test(specifier)) return null
    return layerOf(file.path, layers)?.elysia === true ? null : `knows Elysia: ${specifier}`
  })
}

/** Returns one line for each cycle of imports, including type imports. */
export function importCycles(files: readonly SourceFile[]): string[] {
  const known = new Set(files.map((file) => file.path))
  const targets = (file: SourceFile): string[] =>
    importsWithTargets(file).flatMap(({ target }) => (target !== null && known.has(target) ? [target] : []))
  const graph = new Map(files.map((file) => [file.path, targets(file)]))
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
    if (trail.includes(path) || done.has(path)) return
    for (const target of graph.get(path) ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const { path } of files) visit(path, [])
  return cycles
}

export function longFiles(files: readonly SourceFile[], maxLines: number): string[] {
  return files.flatMap(({ path, text }) => {
    const lines = text.replace(/\n$/, '').split('\n').length
    return lines > maxLines ? [`${path} has ${lines} lines`] : []
  })
}

/** Finds files and folders with names that do not describe their contents. */
export function vagueNames(files: readonly SourceFile[]): string[] {
  const vague = /^(utils?|common|helpers?|misc)$/i
  return files.flatMap(({ path }) => {
    const word = path.split('/').find((part) => vague.test(part.split('.')[0] ?? ''))
    return word === undefined ? [] : [`${path}: call ${word} by what it does`]
  })
}

export function importsWithoutExtension(files: readonly SourceFile[]): string[] {
  return eachImport(files, (_, { specifier }) => {
    if (specifier === null || !specifier.startsWith('.')) return null
    return /\.(tsx?|json|sql|css|html|svg|txt|js)$/.test(specifier) ? null : `'${specifier}' lacks its file extension`
  })
}

/** Only `src/server/app.ts` and tests may import a `routes.ts`. */
export function routesImporters(files: readonly SourceFile[]): string[] {
  return eachImport(files, (file, { target }) => {
    const isRoutes = target !== null && /^src\/api\/[^/]+\/routes\.ts$/.test(target)
    return isRoutes && file.path !== 'src/server/app.ts' ? `imports ${target}: only src/server/app.ts may` : null
  })
}

/** Production must not load these folders. Other files may import their types, or load them on demand. */
export function loadedInProduction(
  files: readonly SourceFile[],
  folders: readonly string[],
  onDemand: readonly string[],
): string[] {
  const inside = (path: string): boolean => folders.some((folder) => path.startsWith(folder))
  return eachImport(files, (file, { target, kind }) => {
    if (target === null || !inside(target) || inside(file.path)) return null
    if (!onDemand.some((path) => file.path.startsWith(path)))
      return `imports ${target}: only ${onDemand.join(', ')} may`
    return kind === 'value' ? `loads ${target} in production: import its types, or import() it when it is wanted` : null
  })
}

/** Only the given files may read the environment. */
export function environmentReaders(files: readonly SourceFile[], allowed: readonly string[]): string[] {
  return files.flatMap((file) => {
    if (allowed.includes(file.path)) return []
    return environmentReads(file).map(
      (line) => `${file.path}:${line} reads the environment: let main.ts or cli.ts hand the value in`,
    )
  })
}

/** Endpoints share only `api/fields` and the rooms below. */
export function importsBetweenEndpoints(files: readonly SourceFile[]): string[] {
  return eachImport(files, (file, { target }) => {
    const [own, other] = [endpointOf(file.path), endpointOf(target ?? '')]
    return own === null || other === null || own === other
      ? null
      : `api/${own} imports api/${other}: move what both need to messages/ or api/fields/`
  })
}

export function endpointsWithoutRoutes(files: readonly SourceFile[]): string[] {
  const endpoints = new Set(files.flatMap(({ path }) => endpointOf(path) ?? []))
  const known = new Set(files.map(({ path }) => path))
  return [...endpoints]
    .filter((name) => !known.has(`src/api/${name}/routes.ts`))
    .map((name) => `src/api/${name} has no routes.ts`)
}

/** Finds calls of `test`, `it` and `describe` that skip a test or all others. */
export function unrunTests(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const found: string[] = []
    walk(file, {
      MemberExpression(node) {
        const chain = file.text.slice(node.start, node.end).replaceAll(/\s/g, '')
        if (/^(test|it|describe)(\.\w+)*\.(skip|todo|only)$/.test(chain))
          found.push(`${file.path}:${lineAt(file.text, node.start)} ${chain}`)
      },
    })
    return found
  })
}

const known = new WeakMap<SourceFile, Import[]>()

/** Returns every import of a file, including `import type`, `export … from`, `import()` and `require()`. */
export function importsOf(file: SourceFile): Import[] {
  const imports = known.get(file) ?? readImports(file)
  known.set(file, imports)
  return imports
}

function readImports(file: SourceFile): Import[] {
  const found: Import[] = []
  const add = (kind: Import['kind'], source: Expression | null | undefined, { start }: { start: number }): void =>
    void found.push({ kind, specifier: textOf(source), line: lineAt(file.text, start) })
  walk(file, {
    ImportDeclaration: (node) => add(node.importKind ?? 'value', node.source, node),
    ExportAllDeclaration: (node) => add(node.exportKind ?? 'value', node.source, node),
    ExportNamedDeclaration: (node) => {
      if (node.source !== null) add(node.exportKind ?? 'value', node.source, node)
    },
    ImportExpression: (node) => add('dynamic', node.source, node),
    TSImportType: (node) => add('dynamic', node.source, node),
    TSExternalModuleReference: (node) => add('value', node.expression, node),
    CallExpression: (node) => {
      if (node.callee.type !== 'Identifier' || node.callee.name !== 'require') return
      const [argument] = node.arguments
      add('value', argument?.type === 'SpreadElement' ? null : argument, node)
    },
  })
  return found
}

/** The text of a string, or of a template without substitutions; null for anything else. */
function textOf(node: Expression | null | undefined): string | null {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value
  return node?.type === 'TemplateLiteral' && node.quasis.length === 1 ? (node.quasis[0]?.value.cooked ?? null) : null
}

/**
 * Returns the lines with `process.env`, `Bun.env`, `import.meta.env`, `{ env } = process` or `import { env } from
 * 'node:process'`.
 */
function environmentReads(file: SourceFile): number[] {
  const lines: number[] = []
  const source = (node: { start: number; end: number } | null): string => file.text.slice(node?.start, node?.end)
  const addIf = (reads: boolean, { start }: { start: number }): void => {
    if (reads) lines.push(lineAt(file.text, start))
  }
  const takesEnv = (pattern: string, from: string): boolean =>
    /^\{.*\benv\b/s.test(pattern) && /\b(process|Bun)$/.test(from)
  const addIfNamed = (node: ImportDeclaration | ExportNamedDeclaration): void =>
    addIf(/^(process|node:process|bun)$/.test(node.source?.value ?? '') && /\{.*\benv\b/s.test(source(node)), node)
  walk(file, {
    MemberExpression: (node) => {
      const owner = /\b(process|Bun|import\.meta)$/.test(source(node.object))
      addIf(owner && /^(['"`]?)env\1$/.test(source(node.property)), node)
    },
    VariableDeclarator: (node) => addIf(node.init !== null && takesEnv(source(node.id), source(node.init)), node),
    AssignmentExpression: (node) => addIf(takesEnv(source(node.left), source(node.right)), node),
    ImportDeclaration: addIfNamed,
    ExportNamedDeclaration: addIfNamed,
  })
  return lines
}

function walk({ path, text }: SourceFile, visitor: VisitorObject): void {
  const { program, errors } = parseSync(path, text)
  if (errors[0] !== undefined) throw new Error(`${path} cannot be parsed: ${errors[0].message}`)
  new Visitor(visitor).visit(program)
}

type ResolvedImport = Import & { target: string | null }

/** `target` is the imported file's path from the root; null for packages. */
function importsWithTargets(file: SourceFile): ResolvedImport[] {
  return importsOf(file).map((found) => {
    const relative = found.specifier?.startsWith('.') === true
    return { ...found, target: relative ? posix.join(posix.dirname(file.path), found.specifier ?? '') : null }
  })
}

function eachImport(
  files: readonly SourceFile[],
  judge: (file: SourceFile, found: ResolvedImport) => string | null,
): string[] {
  return files.flatMap((file) =>
    importsWithTargets(file).flatMap((found) => {
      const verdict = judge(file, found)
      return verdict === null ? [] : [`${file.path}:${found.line} ${verdict}`]
    }),
  )
}

const layerOf = (path: string, layers: readonly Layer[]): Layer | undefined =>
  layers.find((layer) => layer.files.some((glob) => new Bun.Glob(glob).match(path)))

/** The folder of an endpoint: of `src/api/sms/send.ts` it is `sms`. */
const endpointOf = (path: string): string | null => /^src\/api\/(?!(?:http|fields)\/)([^/]+)\//.exec(path)?.[1] ?? null

const isAsset = (path: string): boolean =>
  path === 'package.json' || path.startsWith('drizzle/') || /\/page\/\w+\.(css|js)$/.test(path)

const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length
