import document from '../../docs/openapi.json'
import { bodiesFor } from './bodies.ts'
import { HEADERS, LONG_KEY } from './headers.ts'
import { HEAD_BYTES, type Input, filledWith, inputOf } from './input.ts'
import { queriesFor } from './queries.ts'
import { TEXTS } from './values.ts'

/** What requests need to get past the first checks. */
export interface Access {
  key: string
  operatorToken: string
  /** Values of the parameters of paths, by their names. */
  ids: Readonly<Record<string, string>>
}

interface Operation {
  parameters?: readonly { $ref?: string; name?: string; in?: string }[]
  requestBody?: { content: Record<string, { example?: unknown }> }
  security?: readonly object[]
}

/** Every endpoint of the API document with every kind of request that might be expensive. */
export function endpointInputs(access: Access): Input[] {
  const paths = document.paths as unknown as Record<string, Record<string, Operation>>
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, operation]) =>
      inputsOf(access, method.toUpperCase(), path, operation),
    ),
  )
}

function inputsOf(access: Access, method: string, template: string, operation: Operation): Input[] {
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => access.ids[name] ?? 'none')
  const token = template.startsWith('/v1/operator/') ? access.operatorToken : access.key
  const headers = { Authorization: `Bearer ${token}` }
  const paths = template.includes('{') ? longPaths(template) : []
  const requests: Input[] = paths.map(([name, long]) => inputOf(name, { method, path: long, headers }))
  if (ENDS_SOMETHING.has(`${method} ${template}`))
    return [...requests, inputOf('a long key', { method, path, headers: LONG_KEY })]
  requests.push(inputOf('nothing special', { method, path, headers }))
  const [content] = Object.values(operation.requestBody?.content ?? {})
  const example = exampleOf(template, content?.example)
  for (const [name, body] of Object.entries(example === null ? {} : bodiesFor(example)))
    requests.push(inputOf(name, { method, path, headers, body }))
  const query = queryNames(operation)
  const queries = method === 'GET' || query.length > 0 ? queriesFor(query) : {}
  for (const [name, text] of Object.entries(queries))
    requests.push(inputOf(name, { method, path: `${path}?${text}`, headers }))
  for (const [name, long] of Object.entries(HEADERS_FOR.has(template) ? HEADERS : {}))
    requests.push(inputOf(name, { method, path, headers: { ...headers, ...long } }))
  return requests
}

/** After these, the other requests would be refused. These are requested in vain. */
const ENDS_SOMETHING: ReadonlySet<string> = new Set([
  'DELETE /v1/apps/{appId}',
  'POST /v1/apps/{appId}/rotate-key',
  'POST /v1/rc/disconnect',
  'DELETE /v1/rc/extensions/{extensionId}',
  'DELETE /v1/operator/session',
  'PUT /v1/operator/tenants/{tenantId}',
  'POST /v1/operator/apps/{appId}/rotate-key',
  'POST /v1/operator/apps/{appId}/deactivate',
])

/** Headers are read before an endpoint is reached, and these endpoints read more of them. */
const HEADERS_FOR: ReadonlySet<string> = new Set([
  '/v1/sms/send',
  '/v1/sms/notify',
  '/v1/sms/messages',
  '/v1/rc/connect',
  '/v1/rc/callback',
  '/v1/webhooks/provider',
  '/v1/operator/session',
  '/openapi.json',
  '/ws',
])

/** The fields of a body; null if the endpoint has none. */
function exampleOf(template: string, example: unknown): Record<string, unknown> | null {
  if (template === '/v1/rc/connect') return { token: 'none' }
  if (template === '/v1/operator/session') return { login: 'none' }
  return typeof example === 'object' && example !== null ? { ...example } : null
}

function queryNames({ parameters = [] }: Operation): string[] {
  const known = document.components.parameters as unknown as Record<string, { name: string; in: string }>
  return parameters
    .map((one) => known[one.$ref?.split('/').at(-1) ?? ''] ?? one)
    .flatMap((one) => (one.in === 'query' && one.name !== undefined ? [one.name] : []))
}

/** The path with each text in place of its parameters. */
const longPaths = (template: string): [string, string][] =>
  Object.entries(TEXTS)
    .filter(([, text]) => !text.startsWith('\\'))
    .map(([name, text]) => [
      `a parameter of ${name}`,
      template.replace(/\{\w+\}/, filledWith(encodeURIComponent(text), HEAD_BYTES)).replaceAll(/\{\w+\}/g, 'none'),
    ])
