import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Layer,
  type SourceFile,
  crossFeatureImports,
  elysiaImports,
  environmentReaders,
  featuresWithoutRoutes,
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

const BELOW_DB = ['core', 'version']
const BELOW_ENGINES = [...BELOW_DB, 'db']
const CALLERS = [...BELOW_ENGINES, 'http client']
const TRACKING = [...BELOW_ENGINES, 'realtime', 'provider', 'opt-outs', 'usage']
const SENDING = [...TRACKING, 'jobs', 'tracking']
const GATEWAY = [...SENDING, 'outbound', 'auth', 'sending', 'gateway']
const WORK = ['deliveries', 'inbound', 'upkeep']
const FEATURES = ['verbs', 'wire', 'fields']

/** The layers from the bottom up, each with the layers that it may import. */
const LAYERS: readonly Layer[] = [
  { name: 'core', files: ['src/core/**'], mayImport: [] },
  { name: 'version', files: ['src/version.ts', 'src/commit.ts'], mayImport: [] },
  { name: 'db', files: ['src/db/**'], mayImport: BELOW_DB },
  { name: 'usage', files: ['src/usage/**'], mayImport: BELOW_ENGINES },
  { name: 'jobs', files: ['src/jobs/**'], mayImport: BELOW_ENGINES },
  { name: 'realtime', files: ['src/realtime/**'], mayImport: BELOW_ENGINES },
  { name: 'http client', files: ['src/http-client/**'], mayImport: [] },
  { name: 'ringcentral', files: ['src/provider/ringcentral/**'], mayImport: [...CALLERS, 'provider'] },
  { name: 'provider', files: ['src/provider/**'], mayImport: CALLERS },
  { name: 'outbound', files: ['src/outbound/**'], mayImport: CALLERS },
  { name: 'auth', files: ['src/auth/**'], mayImport: BELOW_ENGINES },
  { name: 'tracking', files: ['src/tracking/**'], mayImport: TRACKING },
  { name: 'opt-outs', files: ['src/opt-outs/**'], mayImport: [...BELOW_ENGINES, 'realtime', 'provider'] },
  { name: 'sending', files: ['src/sending/**'], mayImport: SENDING },
  { name: 'data folder', files: ['src/data-folder.ts'], mayImport: BELOW_ENGINES },
  { name: 'backup', files: ['src/backup/**'], mayImport: [...BELOW_DB, 'data folder'] },
  { name: 'gateway', files: ['src/gateway.ts'], mayImport: GATEWAY },
  { name: 'deliveries', files: ['src/deliveries/**'], mayImport: GATEWAY },
  { name: 'inbound', files: ['src/inbound/**'], mayImport: [...GATEWAY, 'deliveries'] },
  { name: 'upkeep', files: ['src/upkeep/**'], mayImport: GATEWAY },
  { name: 'tenant readings', files: ['src/readings/tenant/**'], mayImport: GATEWAY },
  { name: 'readings', files: ['src/readings/**'], mayImport: [...GATEWAY, 'backup'] },
  { name: 'alerts', files: ['src/alerts/**'], mayImport: [...GATEWAY, 'readings', 'deliveries', 'upkeep'] },
  { name: 'fields', files: ['src/fields/**'], mayImport: BELOW_ENGINES },
  { name: 'http', files: ['src/http/**'], mayImport: [...GATEWAY, 'fields'], elysia: true },
  { name: 'routes', files: ['src/features/*/routes.ts'], mayImport: [...GATEWAY, 'http', ...FEATURES], elysia: true },
  { name: 'wire', files: ['src/features/*/{schemas,pages}.ts'], mayImport: [...GATEWAY, 'http', 'verbs', 'fields'] },
  {
    name: 'verbs',
    files: ['src/features/*/**'],
    mayImport: [...GATEWAY, ...WORK, 'tenant readings', 'wire', 'fields'],
  },
  {
    name: 'operator wire',
    files: ['src/operator/schemas.ts'],
    mayImport: [...GATEWAY, 'http', ...FEATURES],
  },
  {
    name: 'operator routes',
    files: ['src/operator/*routes.ts'],
    mayImport: [...GATEWAY, 'http', 'operator', 'operator wire', ...FEATURES],
    elysia: true,
  },
  {
    name: 'operator',
    files: ['src/operator/**'],
    mayImport: [...GATEWAY, ...WORK, 'readings', 'alerts', 'data folder', 'operator wire', ...FEATURES],
  },
  { name: 'worker', files: ['src/worker.ts'], mayImport: [...GATEWAY, ...WORK, 'alerts'] },
  { name: 'client', files: ['src/client/**'], mayImport: [] },
  {
    name: 'console pages',
    files: ['src/console/*.ts'],
    mayImport: [...GATEWAY, 'http'],
  },
  { name: 'console', files: ['src/console/page/**'], mayImport: ['client'] },
  {
    name: 'app',
    files: ['src/app.ts'],
    mayImport: [...GATEWAY, 'http', 'routes', 'operator routes', 'console pages'],
    elysia: true,
  },
  { name: 'simulator', files: ['src/simulator/**'], mayImport: ['core', 'version'] },
  { name: 'admin', files: ['src/admin/**'], mayImport: [...GATEWAY, 'readings'] },
  {
    name: 'run',
    files: ['src/run.ts'],
    mayImport: [...GATEWAY, 'data folder', 'http', 'ringcentral', 'verbs', 'worker', 'admin', 'app'],
  },
  {
    name: 'development',
    files: ['src/development/**'],
    mayImport: [...GATEWAY, 'data folder', ...FEATURES, 'operator', 'run', 'simulator'],
  },
  {
    name: 'testing',
    files: ['src/testing/**'],
    mayImport: ['core', 'client', 'simulator', 'development', 'app'],
  },
  {
    name: 'cli',
    files: ['src/cli.ts', 'src/cli/**'],
    mayImport: [...GATEWAY, 'backup', 'data folder', 'operator', 'operator wire', 'app', 'run', 'serve', 'client'],
  },
  {
    name: 'serve',
    files: ['src/serve.ts'],
    mayImport: [...GATEWAY, 'backup', 'data folder', 'operator', 'app', 'run', 'development'],
  },
  { name: 'main', files: ['src/main.ts'], mayImport: ['serve'] },
]

const MAX_LINES = 250
const DEVELOPMENT_FOLDERS = ['src/simulator/', 'src/development/', 'src/testing/']
const MAY_LOAD_DEVELOPMENT = ['src/serve.ts']
const MAY_READ_ENVIRONMENT = ['src/main.ts', 'src/cli.ts', 'src/simulator/main.ts']
/** Features without an endpoint, which only run jobs. */
const FEATURES_WITHOUT_ROUTES: readonly string[] = []

/** What the transpiler imports for JSX by itself. */
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

  test('imports routes only in app.ts', () => {
    expect(routesImporters(src)).toEqual([])
  })

  test('never loads the simulator in production', () => {
    expect(loadedInProduction(src, DEVELOPMENT_FOLDERS, MAY_LOAD_DEVELOPMENT)).toEqual([])
  })

  test('reads the environment in main.ts and cli.ts only', () => {
    expect(environmentReaders(src, MAY_READ_ENVIRONMENT)).toEqual([])
  })

  test('has no import from one feature to another', () => {
    expect(crossFeatureImports(src)).toEqual([])
  })

  test('gives every feature its routes', () => {
    expect(featuresWithoutRoutes(src, FEATURES_WITHOUT_ROUTES)).toEqual([])
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
    expectOffence(wrongWayImports, ['src/db/a.ts', "import type { G } from '../gateway.ts'"], 'db imports gateway')
    expectOffence(
      wrongWayImports,
      ['src/jobs/a.ts', "\nexport * from '../realtime/hub.ts'"],
      'src/jobs/a.ts:2 jobs imports realtime',
    )
    expectOffence(
      wrongWayImports,
      ['src/provider/ringcentral/a.ts', "await import('../../outbound/sign.ts')"],
      'ringcentral imports outbound',
    )
    expectOffence(wrongWayImports, ['src/auth/a.ts', "import '../gateway.ts'"], 'auth imports gateway')
    expectOffence(wrongWayImports, ['src/gateway.ts', "import './http/body.ts'"], 'gateway imports http')
    expectOffence(wrongWayImports, ['src/http/a.ts', "import '../features/sms/send.ts'"], 'http imports verbs')
    expectOffence(wrongWayImports, ['src/features/sms/send.ts', "import '../../http/body.ts'"], 'verbs imports http')
    expectOffence(wrongWayImports, ['src/features/sms/routes.ts', "import '../../app.ts'"], 'routes imports app')
    expectOffence(wrongWayImports, ['src/operator/a.ts', "import '../http/body.ts'"], 'operator imports http')
    expectOffence(wrongWayImports, ['src/worker.ts', "import './features/sms/routes.ts'"], 'worker imports routes')
    expectOffence(wrongWayImports, ['src/console/page/a.tsx', "import '../../gateway.ts'"], 'console imports gateway')
    expectOffence(wrongWayImports, ['src/client/a.ts', "import '../http/body.ts'"], 'client imports http')
    expectOffence(
      wrongWayImports,
      ['src/simulator/a.ts', "import '../provider/provider.ts'"],
      'simulator imports provider',
    )
    expectOffence(wrongWayImports, ['src/run.ts', "import './cli.ts'"], 'run imports cli')
    expectOffence(wrongWayImports, ['src/cli/a.ts', "import '../main.ts'"], 'cli imports main')
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
      file('src/features/sms/send.ts', "import type { Gateway } from '../../gateway.ts'\nimport './schemas.ts'"),
      file('src/features/sms/routes.ts', "import './send.ts'\nimport '../../http/body.ts'"),
      file('src/app.ts', "import './features/sms/routes.ts'"),
    ]
    expect(wrongWayImports(files, LAYERS)).toEqual([])
    expect(routesImporters(files)).toEqual([])
    expect(crossFeatureImports(files)).toEqual([])
    expect(importCycles(files)).toEqual([])
    expect(importsWithoutExtension(files)).toEqual([])
  })

  test('reports Elysia outside the HTTP side', () => {
    expectOffence(
      elysiaImports,
      ['src/features/sms/send.ts', "import { Elysia } from 'elysia'"],
      'src/features/sms/send.ts:1 knows Elysia',
    )
    expectOffence(elysiaImports, ['src/operator/a.ts', "import type { T } from 'elysia/types'"], 'elysia/types')
    expectOffence(elysiaImports, ['src/gateway.ts', "import '@elysiajs/swagger'"], '@elysiajs/swagger')
    expect(
      elysiaImports([file('src/http/a.ts', "import 'elysia'"), file('src/core/a.ts', "import 'elysian'")], LAYERS),
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

  test('reports files besides app.ts that import routes', () => {
    const offenders = routesImporters([
      file('src/features/sms/send.ts', "import './routes.ts'"),
      file('src/run.ts', "await import('./features/sms/routes.ts')"),
      file('src/simulator/server.ts', "import './routes.ts'"),
    ])
    expect(offenders.map((line) => line.split(':')[0])).toEqual(['src/features/sms/send.ts', 'src/run.ts'])
  })

  test('reports a simulator that production would load', () => {
    const offenders = loadedInProduction(
      [
        file('src/main.ts', "import { startSimulator } from './simulator/server.ts'"),
        file('src/gateway.ts', "import type { Simulator } from './simulator/server.ts'"),
        file(
          'src/serve.ts',
          "import type { Simulator } from './simulator/server.ts'\nawait import('./development/a.ts')",
        ),
        file('src/development/a.ts', "import '../simulator/server.ts'"),
      ],
      DEVELOPMENT_FOLDERS,
      MAY_LOAD_DEVELOPMENT,
    )
    expect(offenders.map((line) => line.split(':')[0])).toEqual(['src/main.ts', 'src/gateway.ts'])
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

  test('reports one feature that imports another', () => {
    const offenders = crossFeatureImports([
      file('src/features/sms/send.ts', "import type { A } from '../apps/register.ts'\nimport './b.ts'"),
    ])
    expect(offenders).toEqual([
      'src/features/sms/send.ts:1 feature sms imports feature apps: start its work by job kind',
    ])
  })

  test('reports a feature without routes', () => {
    const files = [
      file('src/features/a/verb.ts', ''),
      file('src/features/b/routes.ts', ''),
      file('src/features/c/verb.ts', ''),
    ]
    expect(featuresWithoutRoutes(files, ['c'])).toEqual(['src/features/a has no routes.ts and is not listed'])
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
