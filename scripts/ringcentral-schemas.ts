import { parseArgs } from 'node:util'
import { ROUTES } from '../src/simulator/routes.ts'

// Extracts from RingCentral's OpenAPI file what the tests compare the simulator and the gateway with:
// `bun scripts/ringcentral-schemas.ts rc-public-openapi.yml --source "where it is from" && bun x oxfmt test/support/ringcentral-schemas.json`.
// Only the operations of the simulator's routes and two events are kept, without the words of their documentation.

const SCHEMA_REF = '#/components/schemas/'

const WORDS = new Set([
  'description',
  'example',
  'examples',
  'summary',
  'tags',
  'title',
  'externalDocs',
  'x-notifications',
])

interface OpenApi {
  info: { license: unknown }
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>>
}

interface Operation {
  operationId: string
  parameters?: unknown[]
  requestBody?: unknown
  responses: Record<string, unknown>
}

/** What no operation names: the bodies of events and of errors. */
const EXTRA_SCHEMAS = [
  'InstantMessageEvent',
  'MessageEvent',
  'ApiErrorResponseModel',
  'ParameterizedErrorResponseModel',
]

function extract({ info, paths, components }: OpenApi, source: string): Record<string, unknown> {
  const operations = ROUTES.map(({ method, path }) => {
    const { parameters: common = [], [method.toLowerCase()]: operation } = paths[path] ?? {}
    if (operation === undefined) throw new Error(`The file has no ${method} ${path}`)
    const parameters = [...(common as unknown[]), ...(operation.parameters ?? [])]
    return [`${method} ${path}`, bare(inlined({ ...operation, parameters }, components))] as const
  })
  const schemas = reachable(operations, components['schemas'] ?? {})
  return { source, license: info.license, operations: Object.fromEntries(operations), schemas }
}

/** Replaces references to parameters and responses with the objects. References to schemas stay. */
function inlined(value: unknown, components: OpenApi['components']): unknown {
  if (Array.isArray(value)) return value.map((one) => inlined(one, components))
  if (typeof value !== 'object' || value === null) return value
  const ref = (value as { $ref?: unknown }).$ref
  if (typeof ref === 'string' && !ref.startsWith(SCHEMA_REF)) {
    const [, , kind = '', name = ''] = ref.split('/')
    return inlined(components[kind]?.[name], components)
  }
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inlined(one, components)]))
}

/** Without documentation. A property may have such a name, so all members of `properties` stay. */
function bare(value: unknown, isProperties = false): unknown {
  if (Array.isArray(value)) return value.map((one) => bare(one))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([key]) => isProperties || !WORDS.has(key))
  return Object.fromEntries(kept.map(([key, one]) => [key, bare(one, !isProperties && key === 'properties')]))
}

/** The schemas that the operations refer to, directly or through others. */
function reachable(operations: unknown, schemas: Record<string, unknown>): Record<string, unknown> {
  const found = new Map<string, unknown>()
  const waiting = [...EXTRA_SCHEMAS, ...namesIn(operations)]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    // A discriminator names schemas that the file does not have.
    if (found.has(name) || schemas[name] === undefined) continue
    const schema = bare(schemas[name])
    found.set(name, schema)
    waiting.push(...namesIn(schema))
  }
  return Object.fromEntries([...found].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

const namesIn = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { source: { type: 'string' }, out: { type: 'string', default: 'test/support/ringcentral-schemas.json' } },
})
const [file] = positionals
if (file === undefined || values.source === undefined) throw new Error('Give the OpenAPI file, and --source')
const document = Bun.YAML.parse(await Bun.file(file).text()) as OpenApi
await Bun.write(values.out, `${JSON.stringify(extract(document, values.source), null, 2)}\n`)
