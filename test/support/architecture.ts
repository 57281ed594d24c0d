/**
 * The rules of the source tree as pure functions over source texts. Each returns one line per offence, or an empty list.
 * `test/architecture.test.ts` has the table of layers and applies the rules to the tree.
 */
import { posix } from 'node:path'

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

/** Only `src/app.ts` and tests may import a `routes.ts`. */
export function routesImporters(files: readonly SourceFile[]): string[] {
  return eachImport(files, (file, { target }) => {
    const isRoutes = target !== null && /^src\/(features\/[^/]+|console)\/routes\.ts$/.test(target)
    return isRoutes && file.path !== 'src/app.ts' ? `imports ${target}: only src/app.ts may` : null
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
    return environmentReads(file.text).map(
      (line) => `${file.path}:${line} reads the environment: let main.ts or cli.ts hand the value in`,
    )
  })
}

export function crossFeatureImports(files: readonly SourceFile[]): string[] {
  return eachImport(files, (file, { target }) => {
    const [own, other] = [featureOf(file.path), featureOf(target ?? '')]
    return own === null || other === null || own === other
      ? null
      : `feature ${own} imports feature ${other}: start its work by job kind`
  })
}

export function featuresWithoutRoutes(files: readonly SourceFile[], listed: readonly string[]): string[] {
  const features = new Set(files.flatMap(({ path }) => featureOf(path) ?? []))
  const routed = new Set(files.map(({ path }) => path))
  return [...features]
    .filter((name) => !routed.has(`src/features/${name}/routes.ts`) && !listed.includes(name))
    .map((name) => `src/features/${name} has no routes.ts and is not listed`)
}

/** Finds calls of `test`, `it` and `describe` that skip a test or all others. */
export function unrunTests(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ path, text }) => {
    const tokens = tokenize(text)
    return tokens.flatMap(({ text: word, at }, index) => {
      if (!['test', 'it', 'describe'].includes(word) || tokens[index - 1]?.text === '.') return []
      let end = index
      while (tokens[end + 1]?.text === '.') end += 2
      const chain = tokens.slice(index, end + 1).map((token) => token.text)
      return chain.some((link) => ['skip', 'todo', 'only'].includes(link))
        ? [`${path}:${lineAt(text, at)} ${chain.join('')}`]
        : []
    })
  })
}

/** Returns every import of a text, including `import type`, `export … from`, `import()` and `require()`. */
export function importsOf(text: string): Import[] {
  const tokens = tokenize(text)
  return tokens.flatMap((token, index): Import[] => {
    const next = tokens[index + 1]
    if (token.kind !== 'word' || next === undefined || tokens[index - 1]?.text === '.') return []
    const found = (kind: Import['kind'], specifier: string | null): Import[] => [
      { kind, specifier, line: lineAt(text, token.at) },
    ]
    if (token.text === 'import' && next.kind === 'string') return found('value', next.text)
    if ((token.text === 'import' || token.text === 'require') && next.text === '(') {
      const [argument, after] = [tokens[index + 2], tokens[index + 3]]
      const readable = argument?.kind === 'string' && (after?.text === ')' || after?.text === ',')
      return found(token.text === 'import' ? 'dynamic' : 'value', readable ? argument.text : null)
    }
    if (token.text !== 'import' && token.text !== 'export') return []
    const clause = fromClause(tokens, index + 1, token.text)
    return clause === null ? [] : found(clause.type ? 'type' : 'value', clause.specifier)
  })
}

/** Reads `[type] bindings from 'specifier'` at `start`. Null for anything else, as after `export const`. */
function fromClause(
  tokens: readonly Token[],
  start: number,
  keyword: string,
): { type: boolean; specifier: string } | null {
  const word = (offset: number): string => tokens[start + offset]?.text ?? ''
  const type = word(0) === 'type' && word(1) !== ',' && (word(1) !== 'from' || word(2) === 'from')
  const first = type ? 1 : 0
  if (keyword === 'export' && word(first) !== '{' && word(first) !== '*') return null
  let depth = 0
  for (let index = start + first; index < tokens.length; index++) {
    const { kind, text } = tokens[index] ?? { kind: 'other', text: '' }
    const next = tokens[index + 1]
    if (depth === 0 && text === 'from' && kind === 'word' && next?.kind === 'string')
      return { type, specifier: next.text }
    if (text === '{') depth += 1
    if (text === '}') depth -= 1
    if (text === '}' && depth === 0 && next?.text !== 'from') return null
    if (depth === 0 && kind === 'other' && !'{},*'.includes(text)) return null
  }
  return null
}

/**
 * Returns the lines with `process.env`, `Bun.env`, `import.meta.env`, `{ env } = process` or `import { env } from
 * 'node:process'`.
 */
function environmentReads(text: string): number[] {
  const tokens = tokenize(text).filter((token) => token.text !== '?')
  const before = (index: number): string => {
    const open = tokens.slice(0, index).findLastIndex((token) => token.text === '{')
    return tokens
      .slice(open, index)
      .map((token) => token.text)
      .join(' ')
  }
  return tokens.flatMap(({ kind, text: word, at }, index) => {
    const [next, after] = [tokens[index + 1]?.text, tokens[index + 2]?.text]
    const member =
      kind === 'word' && ['process', 'Bun', 'meta'].includes(word) && (next === '.' || next === '[') && after === 'env'
    const taken = ['process', 'Bun'].includes(word) && /^\{.*\benv\b.*\} =$/.test(before(index))
    const imported =
      kind === 'string' &&
      ['process', 'node:process', 'bun'].includes(word) &&
      /^\{.*\benv\b.*\} from$/.test(before(index))
    return member || taken || imported ? [lineAt(text, at)] : []
  })
}

interface Token {
  /** The `text` of a string, or of a template without substitutions, is its content. */
  kind: 'word' | 'string' | 'other'
  text: string
  at: number
}

const SKIPPED = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const QUOTED = /'(?:\\[\s\S]|[^'\\\n])*'?|"(?:\\[\s\S]|[^"\\\n])*"?/y
const WORD = /[\w$#\u0080-\uffff]+/y
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y
const TEMPLATE_PART = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*(?:`|\$\{)?/y
const BEFORE_REGEX =
  /^(return|typeof|case|in|of|delete|void|throw|else|do|await|yield|\$\{|[^\w$#)\]}'"`\u0080-\uffff].*)$/

/** Splits TypeScript into words, strings and signs. Comments and regular expressions are left out. */
function tokenize(text: string): Token[] {
  const tokens: Token[] = []
  const braces: number[] = []
  let at = 0
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0] ?? null
  }
  const add = (kind: Token['kind'], source: string, content = source): void => {
    tokens.push({ kind, text: content, at })
    at += source.length
  }
  while (at < text.length) {
    const sign = text[at] ?? ''
    const last = tokens.at(-1)
    const skipped =
      take(SKIPPED) ??
      (sign === '/' && (last === undefined || (last.kind !== 'string' && BEFORE_REGEX.test(last.text)))
        ? take(REGEX)
        : null)
    const quoted = take(QUOTED)
    const word = take(WORD)
    if (skipped !== null) at += skipped.length
    else if (quoted !== null) add('string', quoted, quoted.slice(1, -1))
    else if (word !== null) add('word', word)
    else if (sign === '`' || (sign === '}' && braces.at(-1) === 0)) {
      if (sign === '}') braces.pop()
      at += 1
      const part = take(TEMPLATE_PART) ?? ''
      if (part.endsWith('${')) braces.push(0)
      if (part.endsWith('${')) add('other', part, '${')
      else add('string', part, part.slice(0, -1))
    } else {
      const open = braces.length - 1
      if (open >= 0 && (sign === '{' || sign === '}')) braces[open] = (braces[open] ?? 0) + (sign === '{' ? 1 : -1)
      add('other', sign)
    }
  }
  return tokens
}

type ResolvedImport = Import & { target: string | null }

/** `target` is the imported file's path from the root; null for packages. */
function importsWithTargets(file: SourceFile): ResolvedImport[] {
  return importsOf(file.text).map((found) => {
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

const featureOf = (path: string): string | null => /^src\/features\/([^/]+)\//.exec(path)?.[1] ?? null

const isAsset = (path: string): boolean =>
  path === 'package.json' || path.startsWith('drizzle/') || /\/page\/\w+\.(css|js)$/.test(path)

const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length
