import { createConfig, lintFromString } from '@redocly/openapi-core'
import { expect, test } from 'bun:test'
import { ROUTES } from '../../../src/server/app.ts'
import { RELEASE, VERSION } from '../../../src/core/version.ts'
import { createWorld } from '../../support/world.ts'

const COMMITTED = `${import.meta.dir}/../../../docs/openapi.json`

interface Parameter {
  $ref?: string
  name: string
  description?: string
}

interface Operation {
  operationId: string
  description?: string
  tags: string[]
  'x-internal'?: true
  parameters?: Parameter[]
  responses: Record<string, { description: string; content?: Record<string, unknown> }>
}

interface Document {
  info: { version: string; 'x-build': string }
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, { post: Operation }>
  components: { schemas: Record<string, unknown>; parameters: Record<string, Parameter> }
}

/** Every property of a schema and of those inside it, with its description. */
function propertiesOf(schema: unknown): [name: string, description: string][] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties = {} } = schema as { properties?: Record<string, { description?: string }> }
  const own = Object.entries(properties).map(([name, { description = '' }]): [string, string] => [name, description])
  return [...own, ...Object.values(schema).flatMap(propertiesOf)]
}

const committed = async (): Promise<Document> => (await Bun.file(COMMITTED).json()) as Document
const operationsOf = ({ paths }: Document): Operation[] => Object.values(paths).flatMap(Object.values) as Operation[]

test('the document has the version of the API and of the build, and else equals the committed one', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const document = (await (await world.call('GET', '/openapi.json', { key: null })).json()) as Document
  expect(document.info).toMatchObject({ version: '1.0.0', 'x-build': VERSION })
  // The committed document does not change with each commit.
  document.info['x-build'] = RELEASE
  if (Bun.env['UPDATE_OPENAPI'] !== undefined) await Bun.write(COMMITTED, `${JSON.stringify(document, null, 2)}\n`)
  expect(document).toEqual(await Bun.file(COMMITTED).json())
})

const RULES = {
  'no-invalid-schema-examples': 'error',
  'no-invalid-parameter-examples': 'error',
  // Of the contract: a path has a word where another has an id, and two operations succeed without a 2xx.
  'no-ambiguous-paths': 'off',
  'operation-2xx-response': 'off',
  // No operation refers to what a client sends on the WebSocket.
  'no-unused-components': 'off',
} as const

test('the document is valid OpenAPI 3.1, examples included, without a warning', async () => {
  const config = await createConfig({ extends: ['recommended-strict'], rules: RULES })
  const source = await Bun.file(COMMITTED).text()
  const problems = await lintFromString({ source, absoluteRef: COMMITTED, config })
  expect(problems.map(({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer}`)).toEqual([])
  expect(JSON.parse(source)).toMatchObject({ openapi: '3.1.1' })
})

test('the document has every endpoint by its name, with the errors of the contract', async () => {
  const document = await committed()
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
  )
  expect(described.toSorted()).toEqual(
    ROUTES.map(
      ({ operationId, method, path }) => `${operationId} ${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`,
    ).toSorted(),
  )
  const errorsOf = (path: string, method: string, status: number): string =>
    JSON.stringify(document.paths[path]?.[method]?.responses[String(status)])
  expect(errorsOf('/v1/sms/send', 'post', 400)).toContain('to, from, and body are required')
  expect(errorsOf('/v1/apps/register', 'post', 400)).toContain('Tenant not found or not active')
  expect(errorsOf('/v1/sms/status/{messageId}', 'get', 404)).toContain('Message not found')
  expect(errorsOf('/v1/apps', 'get', 401)).toContain('Unauthorized')
})

test('operations, parameters and tags have a description, and a JSON body has an example', async () => {
  const document = await committed()
  const operations = operationsOf(document)
  const named = [...operations, ...document.tags, ...Object.values(document.components.parameters)]
  const own = operations.flatMap(({ parameters = [] }) => parameters.filter(({ $ref }) => $ref === undefined))
  expect([...named, ...own].filter(({ description }) => (description ?? '') === '')).toEqual([])
  const bodies = [...JSON.stringify(document).matchAll(/"application\/json":\{(.{0,200})/g)].map(([, body]) => body)
  expect(bodies.length).toBeGreaterThan(100)
  expect(bodies.filter((body) => !/"examples?":/.test(body ?? ''))).toEqual([])
})

test('a field whose name ends with a unit says in words what it measures, and in which unit', async () => {
  const fields = propertiesOf((await committed()).components.schemas).filter(([name]) => /(Ms|Bytes)$/.test(name))
  expect(fields.length).toBeGreaterThan(8)
  expect(fields.filter(([, description]) => !/milliseconds|bytes/i.test(description))).toEqual([])
})

test('bodies are named schemas, and answers may get new fields', async () => {
  const document = await committed()
  const names = Object.keys(document.components.schemas)
  expect(names).toEqual(expect.arrayContaining(['SendSmsRequest', 'SocketMessage', 'SocketAuth', 'SmsInboundEvent']))
  const inline = [...JSON.stringify(document.paths).matchAll(/"application\/json":\{"schema":\{"type":"object"/g)]
  expect(inline).toEqual([])
  expect(JSON.stringify(document)).not.toContain('"additionalProperties":false')
  expect(JSON.stringify(document)).not.toContain('9007199254740991')
})

test('endpoints of browsers and the provider are marked', async () => {
  const marked = operationsOf(await committed()).filter((operation) => operation['x-internal'] === true)
  expect(marked.map(({ operationId }) => operationId).toSorted()).toEqual([
    'finishConnect',
    'openWebSocket',
    'receiveProviderEvent',
    'showConnectPage',
    'startConnect',
  ])
  expect(marked.every(({ tags }) => tags[0] === 'Browser and provider')).toBe(true)
})

test('the callback answers pages and JSON', async () => {
  const { paths } = await committed()
  const responses = paths['/v1/rc/callback']?.['get']?.responses ?? {}
  for (const status of ['200', '400', '502'])
    expect(Object.keys(responses[status]?.content ?? {})).toEqual(['text/html', 'application/json'])
})

test('the page loads scripts and styles only from the gateway, and its policy allows no others', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const response = await world.call('GET', '/docs', { key: null })
  const page = await response.text()
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const policy = response.headers.get('content-security-policy') ?? ''
  expect(policy).toStartWith("default-src 'none'; script-src 'self'; style-src 'self';")
  expect(policy).not.toContain('unsafe')
  const scripts = [...page.matchAll(/<script[^>]*>(.*?)<\/script>/gs)].map(([, text]) => text)
  expect(scripts).toEqual(['', ''])
  const loaded = [...page.matchAll(/<(?:script|link)[^>]+(?:src|href)="([^"]*)"/g)].map(([, address]) => address ?? '')
  const files = ['docs/swagger-ui.css', 'docs/docs.css', 'docs/swagger-ui-bundle.js', 'docs/start.js']
  expect(loaded.toSorted()).toEqual(['data:,', ...files].toSorted())
  for (const path of files) expect((await world.call('GET', `/${path}`, { key: null })).status).toBe(200)
})
