import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Layer,
  type SourceFile,
  importsBetweenEndpoints,
  elysiaImports,
  environmentReaders,
  endpointsWithoutRoutes,
  importCycles,
  importsOf,
  importsWithoutExtension,
  loadedInProduction,
  longFiles,
  routesImporters,
  unrunTests,
  vagueNames,
  wrongWayImports,
} from './support/architecture.ts'

const STORE = ['core', 'db']
const ENGINES = [
  ...STORE,
  'net',
  'provider',
  'auth',
  'jobs',
  'realtime',
  'usage',
  'opt-outs',
  'media',
  'receipts',
  'sending',
]
const GATEWAY = [...ENGINES, 'gateway']
const MESSAGES = [...GATEWAY, 'messages']

/**
 * The rooms from the bottom up: each imports only what stands before it, and of that only what its row names. `messages` and `api`
 * have a row for each folder that would otherwise know too much.
 */
const LAYERS: readonly Layer[] = [
  { name: 'core', files: ['src/core/**'], mayImport: [] },
  { name: 'client', files: ['src/client/**'], mayImport: [] },
  { name: 'simulator', files: ['src/simulator/**'], mayImport: ['core'] },
  { name: 'db', files: ['src/db/**'], mayImport: ['core'] },
  { name: 'net', files: ['src/net/**'], mayImport: ['core'] },
  { name: 'ringcentral', files: ['src/provider/ringcentral/**'], mayImport: [...STORE, 'net', 'provider'] },
  { name: 'provider', files: ['src/provider/**'], mayImport: [...STORE, 'net'] },
  { name: 'auth', files: ['src/auth/**'], mayImport: STORE },

  { name: 'jobs', files: ['src/messages/jobs/**'], mayImport: STORE },
  { name: 'realtime', files: ['src/messages/realtime/**'], mayImport: STORE },
  { name: 'usage', files: ['src/messages/usage/**'], mayImport: STORE },
  { name: 'opt-outs', files: ['src/messages/opt-outs/**'], mayImport: [...STORE, 'provider'] },
  { name: 'media', files: ['src/messages/media/**'], mayImport: [...STORE, 'provider'] },
  {
    name: 'receipts',
    files: ['src/messages/receipts/**'],
    mayImport: [...STORE, 'provider', 'realtime', 'usage', 'opt-outs'],
  },
  {
    name: 'sending',
    files: ['src/messages/sending/**'],
    mayImport: [...STORE, 'client', 'provider', 'jobs', 'usage', 'opt-outs', 'media', 'receipts'],
  },
  { name: 'gateway', files: ['src/messages/gateway.ts', 'src/messages/extension-parts.ts'], mayImport: ENGINES },
  { name: 'messages', files: ['src/messages/**'], mayImport: GATEWAY },

  { name: 'fields', files: ['src/api/fields/**'], mayImport: STORE },
  { name: 'http', files: ['src/api/http/**'], mayImport: [...GATEWAY, 'fields'], elysia: true },
  {
    name: 'routes',
    files: ['src/api/*/{routes,schemas,pages,*-query}.ts'],
    mayImport: [...MESSAGES, 'client', 'fields', 'http', 'verbs'],
  },
  { name: 'verbs', files: ['src/api/*/**'], mayImport: [...MESSAGES, 'fields', 'routes'] },

  // Plain data, which the server, `sgw` and the page share.
  { name: 'traits', files: ['src/operator/conditions/traits.ts'], mayImport: [] },
  { name: 'console page', files: ['src/console/page/**'], mayImport: ['client', 'traits'] },
  { name: 'console', files: ['src/console/*.ts'], mayImport: ['core', 'gateway', 'http'] },
  {
    name: 'operator routes',
    files: ['src/operator/{*schemas,*routes}.ts'],
    mayImport: [...MESSAGES, 'fields', 'http', 'routes', 'verbs', 'operator'],
  },
  {
    name: 'operator',
    files: ['src/operator/**'],
    mayImport: [...MESSAGES, 'fields', 'routes', 'verbs', 'traits', 'operator routes'],
  },

  {
    name: 'server',
    files: ['src/server/**'],
    mayImport: [
      ...MESSAGES,
      'operator',
      'operator routes',
      'ringcentral',
      'http',
      'routes',
      'verbs',
      'console',
      'simulator',
    ],
  },
  { name: 'main', files: ['src/main.ts'], mayImport: ['core', 'server'] },
  { name: 'testing', files: ['src/testing/**'], mayImport: ['core', 'client', 'simulator', 'server'] },
  {
    name: 'cli',
    files: ['src/cli.ts', 'src/cli/**'],
    mayImport: [...ENGINES, 'fields', 'routes', 'traits', 'operator', 'operator routes', 'server', 'client'],
  },
]

const MAX_LINES = 250
const DEVELOPMENT_FOLDERS = ['src/simulator/', 'src/server/development/', 'src/testing/']
const MAY_LOAD_DEVELOPMENT = ['src/server/serve.ts', 'src/server/prepare.ts']
const MAY_READ_ENVIRONMENT = ['src/main.ts', 'src/cli.ts', 'src/simulator/main.ts']

/** The module that the transpiler imports for JSX. */
const JSX_RUNTIME = /^react$|\/jsx(-dev)?-runtime$/

const src = read('src/**/*.{ts,tsx}')
const tests = read('test/**/*.{ts,tsx}')
const bench = read('bench/**/*.ts')

describe('the source tree', () => {
  test('has source files', () => {
    expect(src.length).toBeGreaterThan(50)
  })

  test('has no import that the checker misses and Bun finds', () => {
    const unseen = [...src, ...tests, ...bench].flatMap((one) => {
      const { path, text } = one
      const seen = new Set(importsOf(one).map((found) => found.specifier))
      const transpiler = new Bun.Transpiler({ loader: path.endsWith('x') ? 'tsx' : 'ts' })
      return transpiler
        .scanImports(text.replace(/^#!.*/, ''))
        .flatMap((found) => (seen.has(found.path) || JSX_RUNTIME.test(found.path) ? [] : [`${path}: ${found.path}`]))
    })
    expect(unseen).toEqual([])
  })

  test('imports one way', () => {
    expect(wrongWayImports(src, LAYERS)).toEqual([])
  })

  test('has a client that imports no package', () => {
    const imports = src.filter(({ path }) => path.startsWith('src/client/')).flatMap(importsOf)
    expect(imports.filter(({ specifier }) => specifier?.startsWith('./') !== true)).toEqual([])
  })

  test('imports Elysia only on its HTTP side', () => {
    expect(elysiaImports(src, LAYERS)).toEqual([])
  })

  test('has no circular import, types included', () => {
    expect(importCycles(src)).toEqual([])
  })

  test(`has no file over ${MAX_LINES} lines`, () => {
    expect(longFiles(src, MAX_LINES)).toEqual([])
  })

  test('has no vague folder or file names', () => {
    expect(vagueNames([...src, ...tests, ...bench])).toEqual([])
  })

  test('imports files with their extension', () => {
    expect(importsWithoutExtension([...src, ...tests, ...bench])).toEqual([])
  })

  test('imports routes only in server/app.ts', () => {
    expect(routesImporters(src)).toEqual([])
  })

  test('never loads the simulator in production', () => {
    expect(loadedInProduction(src, DEVELOPMENT_FOLDERS, MAY_LOAD_DEVELOPMENT)).toEqual([])
  })

  test('reads the environment in main.ts and cli.ts only', () => {
    expect(environmentReaders(src, MAY_READ_ENVIRONMENT)).toEqual([])
  })

  test('has no import from one endpoint folder to another', () => {
    expect(importsBetweenEndpoints(src)).toEqual([])
  })

  test('gives every endpoint folder its routes', () => {
    expect(endpointsWithoutRoutes(src)).toEqual([])
  })

  test('runs every test', () => {
    expect(unrunTests(tests)).toEqual([])
  })
})

describe('the checker', () => {
  test('finds imports of every form', () => {
    const found = importsOf(
      file(
        'src/core/a.ts',
        `
      import 'a1'
      import a2, { type A, b as c } from 'a2' with { type: 'text' }
      import * as a3 from "a3"
      import type { B } from 'a4'
      import type from 'a5'
      import type C from 'a6'
      import { 'x-y' as z } from 'a7'
      export * from 'a8'
      export type { D } from 'a9'
      export { e }; export const f = 1
      type G = import('a10').G
      const h = await import(\`a11\`)
      const i = \`\${await import('a12')} and \${{ j: { k: 1 } }.j.k} import 'no'\`
      const l = import('./' + f)
      const m = require('a13')`,
      ),
    )
    expect(found.map(({ specifier, kind }) => `${specifier} ${kind}`).join(', ')).toBe(
      'a1 value, a2 value, a3 value, a4 type, a5 value, a6 type, a7 value, a8 value, a9 type, ' +
        'a10 dynamic, a11 dynamic, a12 dynamic, null dynamic, a13 value',
    )
    expect(found[0]?.line).toBe(2)
  })

  test('finds no import in comments, strings and regular expressions', () => {
    const found = importsOf(
      file(
        'src/core/a.ts',
        `
      // import 'no'
      /* import { a } from 'no' */
      const a = "import 'no'" + 'from \\'no\\''
      const b = /['"\`]import 'no'/g, c = 4 / 2 / 1, d = [/[/'"]/, /\`/]
      const e = { import: 1, from: 2 }, f = e.import, g = import.meta.url
      const h = \`import 'no' \\\` \${b.test('}') ? /\`}/ : "}"} import 'no'\`
      export { a, b }
      import { real } from 'real'`,
      ),
    )
    expect(found.map((one) => one.specifier)).toEqual(['real'])
  })

  test('reports an import of a higher layer, whether of a type, on demand, or by re-export', () => {
    expectOffence(
      wrongWayImports,
      ['src/core/a.ts', "import { b } from '../db/b.ts'"],
      'src/core/a.ts:1 core imports db: src/db/b.ts',
    )
    expectOffence(
      wrongWayImports,
      ['src/db/a.ts', "import type { G } from '../messages/gateway.ts'"],
      'db imports gateway',
    )
    expectOffence(
      wrongWayImports,
      ['src/messages/jobs/a.ts', "\nexport * from '../realtime/hub.ts'"],
      'src/messages/jobs/a.ts:2 jobs imports realtime',
    )
    expectOffence(
      wrongWayImports,
      ['src/provider/ringcentral/a.ts', "await import('../../auth/key-ring.ts')"],
      'ringcentral imports auth',
    )
    const upward: [path: string, specifier: string, offence: string][] = [
      ['src/auth/a.ts', '../messages/gateway.ts', 'auth imports gateway'],
      ['src/net/outbound/a.ts', '../../db/gate.ts', 'net imports db'],
      ['src/messages/gateway.ts', '../api/http/body.ts', 'gateway imports http'],
      ['src/messages/sending/a.ts', '../gateway.ts', 'sending imports gateway'],
      ['src/messages/receipts/a.ts', '../sending/engine.ts', 'receipts imports sending'],
      ['src/messages/upkeep/a.ts', '../../operator/alerts/alerts.ts', 'messages imports operator'],
      ['src/api/http/a.ts', '../sms/send.ts', 'http imports verbs'],
      ['src/api/sms/send.ts', '../http/body.ts', 'verbs imports http'],
      ['src/api/sms/routes.ts', '../../server/app.ts', 'routes imports server'],
      ['src/operator/a.ts', '../api/http/body.ts', 'operator imports http'],
      ['src/console/page/a.tsx', '../../messages/gateway.ts', 'console page imports gateway'],
      ['src/client/a.ts', '../api/http/body.ts', 'client imports http'],
      ['src/simulator/a.ts', '../provider/provider.ts', 'simulator imports provider'],
      ['src/server/run.ts', '../cli.ts', 'server imports cli'],
      ['src/cli/a.ts', '../main.ts', 'cli imports main'],
    ]
    for (const [path, specifier, offence] of upward)
      expectOffence(wrongWayImports, [path, `import '${specifier}'`], offence)
  })

  test('reports files outside the table and computed imports', () => {
    expectOffence(wrongWayImports, ['src/new/a.ts', ''], 'src/new/a.ts belongs to no layer')
    expectOffence(
      wrongWayImports,
      ['src/core/a.ts', "import '../../test/support/b.ts'"],
      'core imports a file of no layer',
    )
    expectOffence(wrongWayImports, ['src/core/a.ts', 'await import(name)'], 'computes what it imports')
  })

  test('accepts imports of lower layers', () => {
    const files = [
      file('src/core/a.ts', "import { b } from './b.ts'\nimport { z } from 'zod'"),
      file(
        'src/db/a.ts',
        "import sql from '../../drizzle/0000_start.sql' with { type: 'text' }\nimport '../core/a.ts'",
      ),
      file('src/api/sms/send.ts', "import type { Gateway } from '../../messages/gateway.ts'\nimport './schemas.ts'"),
      file('src/api/sms/routes.ts', "import './send.ts'\nimport '../http/body.ts'"),
      file('src/server/app.ts', "import '../api/sms/routes.ts'"),
    ]
    expect(wrongWayImports(files, LAYERS)).toEqual([])
    expect(routesImporters(files)).toEqual([])
    expect(importsBetweenEndpoints(files)).toEqual([])
    expect(importCycles(files)).toEqual([])
    expect(importsWithoutExtension(files)).toEqual([])
  })

  test('reports Elysia outside the HTTP side', () => {
    expectOffence(
      elysiaImports,
      ['src/api/sms/send.ts', "import { Elysia } from 'elysia'"],
      'src/api/sms/send.ts:1 knows Elysia',
    )
    expectOffence(elysiaImports, ['src/operator/a.ts', "import type { T } from 'elysia/types'"], 'elysia/types')
    expectOffence(elysiaImports, ['src/messages/gateway.ts', "import '@elysiajs/swagger'"], '@elysiajs/swagger')
    expect(
      elysiaImports([file('src/api/http/a.ts', "import 'elysia'"), file('src/core/a.ts', "import 'elysian'")], LAYERS),
    ).toEqual([])
  })

  test('reports a cycle once, also a cycle of types', () => {
    const files = [
      file('src/core/a.ts', "import './b.ts'"),
      file('src/core/b.ts', "import type { C } from './c.ts'"),
      file('src/core/c.ts', "import './a.ts'"),
      file('src/core/self.ts', "export * from './self.ts'"),
    ]
    expect(importCycles(files)).toEqual([
      'src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts',
      'src/core/self.ts → src/core/self.ts',
    ])
  })

  test('reports a file that is one line too long', () => {
    const files = [file('src/core/long.ts', 'x\n'.repeat(251)), file('src/core/right.ts', 'x\n'.repeat(250))]
    expect(longFiles(files, 250)).toEqual(['src/core/long.ts has 251 lines'])
  })

  test('reports vague names', () => {
    const paths = [
      'src/utils/a.ts',
      'src/core/helpers.ts',
      'src/common/a.ts',
      'test/Util.test.ts',
      'src/core/commons.ts',
    ]
    const offenders = vagueNames(paths.map((path) => file(path, '')))
    expect(offenders.map((line) => line.split(':')[0])).toEqual(paths.slice(0, 4))
  })

  test('reports relative imports without an extension', () => {
    const offenders = importsWithoutExtension([
      file('src/core/a.ts', "import './b'\nimport type { C } from '../db/c.d'\nimport './d.ts'"),
    ])
    expect(offenders).toEqual([
      "src/core/a.ts:1 './b' lacks its file extension",
      "src/core/a.ts:2 '../db/c.d' lacks its file extension",
    ])
  })

  test('reports files besides server/app.ts that import routes', () => {
    const offenders = routesImporters([
      file('src/api/sms/send.ts', "import './routes.ts'"),
      file('src/server/run.ts', "await import('../api/sms/routes.ts')"),
      file('src/simulator/server.ts', "import './routes.ts'"),
    ])
    expect(offenders.map((line) => line.split(':')[0])).toEqual(['src/api/sms/send.ts', 'src/server/run.ts'])
  })

  test('reports a simulator that production would load', () => {
    const offenders = loadedInProduction(
      [
        file('src/main.ts', "import { startSimulator } from './simulator/server.ts'"),
        file('src/messages/gateway.ts', "import type { Simulator } from '../simulator/server.ts'"),
        file(
          'src/server/serve.ts',
          "import type { Simulator } from '../simulator/server.ts'\nawait import('./development/a.ts')",
        ),
        file('src/server/development/a.ts', "import '../../simulator/server.ts'"),
      ],
      DEVELOPMENT_FOLDERS,
      MAY_LOAD_DEVELOPMENT,
    )
    expect(offenders.map((line) => line.split(':')[0])).toEqual(['src/main.ts', 'src/messages/gateway.ts'])
  })

  test('reports files that read the environment', () => {
    const reads = [
      'process.env.A',
      "process['env']",
      'Bun.env',
      'process?.env',
      'import.meta.env.A',
      'const { argv, env } = process',
      "import { env } from 'node:process'",
      '`${process.env.A}`',
      'globalThis.process.env',
    ]
    const harmless = ['// process.env', "'process.env'", 'const { env } = options', 'process.argv', 'Bun.environment']
    for (const text of reads)
      expect(environmentReaders([file('src/core/a.ts', text)], MAY_READ_ENVIRONMENT)).toHaveLength(1)
    for (const text of harmless)
      expect(environmentReaders([file('src/core/a.ts', text)], MAY_READ_ENVIRONMENT)).toEqual([])
    expect(environmentReaders([file('src/main.ts', 'process.env')], MAY_READ_ENVIRONMENT)).toEqual([])
  })

  test('reports an endpoint folder that imports another', () => {
    const offenders = importsBetweenEndpoints([
      file('src/api/sms/send.ts', "import type { A } from '../apps/register.ts'\nimport './b.ts'"),
    ])
    expect(offenders).toEqual([
      'src/api/sms/send.ts:1 api/sms imports api/apps: move what both need to messages/ or api/fields/',
    ])
  })

  test('reports an endpoint folder without routes', () => {
    const files = [file('src/api/a/verb.ts', ''), file('src/api/b/routes.ts', ''), file('src/api/http/verb.ts', '')]
    expect(endpointsWithoutRoutes(files)).toEqual(['src/api/a has no routes.ts'])
  })

  test('reports tests that do not run', () => {
    // The calls are composed here, so that a search of the tests for such calls does not find these.
    const texts = [
      ['test', 'skip'],
      ['it', 'concurrent', 'todo'],
      ['describe', 'only'],
      ['test', 'only', 'each'],
    ]
    for (const text of texts.map((chain) => `${chain.join('.')}('a')`))
      expect(unrunTests([file('test/a.test.ts', text)])).toHaveLength(1)
    const [comment, word] = [['// test', "only('a')"].join('.'), ['RegExp.test', 'only'].join('.')]
    const fine = ["test('.skip')", "test.each([])('a')", 'page.skip()', comment, word]
    for (const text of fine) expect(unrunTests([file('test/a.test.ts', text)])).toEqual([])
  })
})

function read(glob: string): SourceFile[] {
  const root = join(import.meta.dir, '..')
  const paths = [...new Bun.Glob(glob).scanSync({ cwd: root })].map((path) => path.replaceAll('\\', '/')).toSorted()
  return paths.map((path) => file(path, readFileSync(join(root, path), 'utf8')))
}

function file(path: string, text: string): SourceFile {
  return { path, text }
}

type LayerRule = (files: readonly SourceFile[], layers: readonly Layer[]) => string[]

function expectOffence(rule: LayerRule, [path, text]: [string, string], message: string): void {
  const offenders = rule([file(path, text)], LAYERS)
  expect(offenders).toHaveLength(1)
  expect(offenders[0]).toContain(message)
}
