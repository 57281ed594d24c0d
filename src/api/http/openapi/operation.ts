import { z } from 'zod'
import type { Route } from '../route.ts'
import { errorsOf } from './errors.ts'
import { exampleOf } from './examples.ts'
import { type HeaderName, headers } from './headers.ts'
import type { Direction, Json, NamedSchemas } from './named-schemas.ts'
import type { SharedParameters } from './shared-parameters.ts'

/** What the operations of a document share. */
export interface Shared {
  schemas: NamedSchemas
  parameters: SharedParameters
}

/** The tag of endpoints that browsers and the provider call, so that generated clients can leave them out. */
export const INTERNAL_TAG = 'Browser and provider'

/** An app's key, or an operator's token with `Sgw-App`. This is the default of the document. */
export const APP_SECURITY = [{ apiKey: [] }, { operatorToken: [], actingApp: [] }]

const SECURITY: Record<Route['auth'], Json> = {
  app: {},
  operator: { security: [{ operatorToken: [] }] },
  'app or operator': { security: [...APP_SECURITY, { operatorToken: [] }] },
  none: { security: [] },
}

/** The operation of an endpoint, made from the schemas that validate it. */
export function operationOf(route: Route, shared: Shared): Json {
  if (route.sends !== undefined) shared.schemas.of(route.sends, 'input')
  const parameters = [
    ...shared.parameters.of('path', route.params),
    ...shared.parameters.of('query', route.query),
    ...shared.parameters.of('header', route.headers),
  ]
  return {
    operationId: route.operationId,
    tags: [route.internal === true ? INTERNAL_TAG : route.tag],
    summary: route.summary,
    description: route.description ?? `${route.summary}.`,
    ...(route.internal === true ? { 'x-internal': true } : {}),
    ...SECURITY[route.auth],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBodyOf(route, route.body, shared) }),
    ...(route.takesFile === undefined ? {} : { requestBody: fileOf(route.takesFile) }),
    responses: { [route.status]: successOf(route, shared), ...errorsOf(route), ...othersOf(route, shared) },
  }
}

function requestBodyOf(route: Route, body: z.ZodType, { schemas }: Shared): Json {
  const type = route.bodyType === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
  // A request without a body counts as an empty object.
  return { required: !body.safeParse({}).success, content: { [type]: mediaOf(body, 'input', schemas) } }
}

const FILE = { schema: { type: 'string', format: 'binary' } }

const fileOf = (types: readonly string[]): Json => ({
  required: true,
  content: Object.fromEntries(types.map((type) => [type, FILE])),
})

/** A body of JSON with an example. */
export function mediaOf(body: z.ZodType, io: Direction, schemas: NamedSchemas): Json {
  const schema = schemas.of(body, io)
  return { schema, example: exampleOf(schema, schemas.components) }
}

const DESCRIPTIONS: Partial<Record<number, string>> = {
  101: 'The connection is a WebSocket now. Its frames are JSON',
  201: 'Created',
  202: 'Accepted',
  303: "To the provider's login",
}

function successOf(route: Route, { schemas }: Shared): Json {
  const names: HeaderName[] = ['X-Request-Id']
  if (route.auth === 'app' || route.auth === 'app or operator') names.push('RateLimit', 'RateLimit-Policy')
  if (route.response === 'redirect') names.push('Location')
  if (route.internal !== true && (route.body !== undefined || route.query !== undefined)) names.push('X-Ignored-Fields')
  const head = {
    description: DESCRIPTIONS[route.status] ?? 'Success',
    headers: headers([...names, ...(route.answerHeaders ?? [])]),
  }
  const content = contentOf(route, schemas)
  return Object.keys(content).length === 0 ? head : { ...head, content }
}

function contentOf({ response, json, csv }: Route, schemas: NamedSchemas): Json {
  const page = response === 'html' ? { 'text/html': { schema: { type: 'string' }, example: '<!doctype html>…' } } : {}
  // Generators know a file by this type; it may have any other.
  if (response === 'file') return { 'application/octet-stream': FILE, '*/*': FILE }
  const body = response instanceof z.ZodType ? response : json
  const table = csv === undefined ? {} : { 'text/csv': { schema: { type: 'string' }, example: csv } }
  return { ...page, ...(body === undefined ? {} : { 'application/json': mediaOf(body, 'output', schemas) }), ...table }
}

const othersOf = ({ otherwise = {} }: Route, { schemas }: Shared): Json =>
  Object.fromEntries(
    Object.entries(otherwise).map(([status, [description, body]]) => [
      status,
      {
        description,
        headers: headers(['X-Request-Id']),
        content: { 'application/json': mediaOf(body, 'output', schemas) },
      },
    ]),
  )
