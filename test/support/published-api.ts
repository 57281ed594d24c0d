import type { ErrorObject, ValidateFunction } from 'ajv'
import type { RawCall } from '../../src/simulator/call-record.ts'
import { type Call, isJson } from '../../src/simulator/http.ts'
import { ROUTES, type Route } from '../../src/simulator/routes.ts'
import { DEVIATIONS, type Deviation } from './published-deviations.ts'
import { jsonValidator, published, type Schema, textValidator } from './published-schemas.ts'

/** What the published API says of an operation. */
interface Operation {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Content; required?: boolean }
  responses: Record<string, { content?: Content }>
  'x-throttling-group'?: string
  'x-app-permission'?: string
}

interface Parameter {
  name: string
  in: string
  schema: Schema
}

type Content = Record<string, { schema: Schema }>

/** The operations of the simulator's routes in the extract of RingCentral's OpenAPI file, by method and path. */
const operations = published.operations as unknown as Readonly<Record<string, Operation>>
export const operationOf = ({ method, path }: Pick<Route, 'method' | 'path'>): Operation | undefined =>
  operations[`${method} ${path}`]

/** How much was compared, and the deviations that occurred. */
export interface Comparison {
  requests: number
  answers: number
  events: number
  deviations: Set<Deviation>
}

/**
 * Compares calls between a client and the simulator with what RingCentral publishes: each request with its operation's parameters and
 * body, each answer with the schema of its status, each event with its own. A member that the schema does not know is a fault, too.
 */
export class PublishedApi {
  readonly compared: Comparison = { requests: 0, answers: 0, events: 0, deviations: new Set() }
  /** Differences that are not deliberate deviations. */
  readonly wrongRequests: string[] = []
  /** The same for answers and events. */
  readonly wrongAnswers: string[] = []

  readonly note = (call: RawCall): void => {
    if (call.direction === 'in') return this.#event(call)
    const route = ROUTES.find(({ method, pattern }) => method === call.method && pattern.test(pathOf(call)))
    const operation = route === undefined ? undefined : operationOf(route)
    if (route === undefined) return this.#answer(`${call.method} unknown`, call, ERRORS)
    if (operation === undefined) throw new Error(`No operation for ${route.method} ${route.path}`)
    this.#request(operation, route, call)
    this.#answer(operation.operationId, call, contentOf(operation, call))
  }

  #request(operation: Operation, route: Route, call: RawCall): void {
    this.compared.requests++
    const where = `request ${operation.operationId}`
    for (const [name, values] of namedValues(route, call)) {
      const parameter = operation.parameters?.find((one) => one.name === name)
      if (parameter === undefined) this.#differ(where, { instancePath: '', keyword: 'parameter', params: { name } })
      else this.#compare(`${where} ?${name}`, textValidator(parameter.schema), valueOf(parameter.schema, values))
    }
    const type = mediaTypeOf(call.request.headers)
    const body = operation.requestBody?.content[type]
    const validator = type === FORM ? textValidator : jsonValidator
    const value = withFiles(parsed(type, call.request.body), operation, call)
    if (isSocketSubscription(call, value)) this.#compare(where, jsonValidator(SOCKET_SUBSCRIPTION), value)
    else if (body !== undefined) this.#compare(where, validator(body.schema), value)
    else if (call.request.body !== '') this.#differ(where, { instancePath: '', keyword: 'content', params: { type } })
  }

  #answer(operationId: string, { response, fault }: RawCall, content: Content | undefined): void {
    if (response === null || fault !== null) return
    this.compared.answers++
    const where = `answer ${operationId} ${response.status}`
    const type = mediaTypeOf(response.headers)
    if (content === undefined) return response.body === '' ? undefined : this.#unexpected(where, type)
    const schema = (content[type] ?? content[type.replace(/\/.*/, '/*')])?.schema
    if (schema === undefined) return this.#unexpected(where, type)
    if (type === 'application/json') this.#compare(where, jsonValidator(schema), parsed(type, response.body))
  }

  #event({ request }: RawCall): void {
    const event = JSON.parse(request.body) as { event: string }
    // The file does not have the reminder.
    const kind = EVENTS.find(({ pattern }) => pattern.test(event.event))
    if (kind === undefined) return
    this.compared.events++
    this.#compare(`event ${kind.name}`, jsonValidator(kind.schema), event)
  }

  #unexpected(where: string, type: string): void {
    this.#differ(where, { instancePath: '', keyword: 'content', params: { type } })
  }

  #compare(where: string, validate: ValidateFunction, value: unknown): void {
    if (validate(value)) return
    for (const error of validate.errors ?? []) this.#differ(where, error)
  }

  #differ(where: string, { instancePath, keyword, params }: Difference) {
    const kind = keyword === 'unevaluatedProperties' ? 'unknown' : keyword
    const difference = `${where}: ${instancePath} ${kind} ${JSON.stringify(Object.values(params))}`
    const deviation = DEVIATIONS.find(({ pattern }) => pattern.test(difference))
    if (deviation !== undefined) this.compared.deviations.add(deviation)
    else if (where.startsWith('request')) this.wrongRequests.push(difference)
    else this.wrongAnswers.push(difference)
  }
}

/** Of ajv, or of our own in the same form. */
type Difference = Pick<ErrorObject, 'instancePath' | 'keyword' | 'params'>

const EVENTS = [
  { name: 'InstantMessageEvent', pattern: /\/message-store\/instant\?/ },
  { name: 'MessageEvent', pattern: /\/message-store(\?|$)/ },
].map((kind) => ({ ...kind, schema: { $ref: `#/components/schemas/${kind.name}` } }))

/** The file has the parts of this request, and the answer to it, but not the request itself, which is only sent over a socket. */
const SOCKET_SUBSCRIPTION: Schema = {
  allOf: [
    { $ref: '#/components/schemas/UpdateSubscriptionRequest' },
    {
      type: 'object',
      required: ['deliveryMode'],
      properties: { deliveryMode: { $ref: '#/components/schemas/WebSocketDeliveryMode' } },
    },
  ],
}

const isSocketSubscription = ({ route, method }: RawCall, body: unknown): boolean =>
  route === 'subscription-create' && method === 'POST' && JSON.stringify(body).includes('"WebSocket"')

const ERRORS: Content = { 'application/json': { schema: { $ref: '#/components/schemas/ApiErrorResponseModel' } } }

/** The file lists few errors of an operation. Any other has the general form. */
function contentOf({ responses }: Operation, { response }: RawCall): Content | undefined {
  const status = response?.status ?? 0
  const listed = responses[status === 206 ? 200 : status]
  return listed?.content ?? (status >= 400 ? ERRORS : undefined)
}

const pathOf = ({ path }: RawCall): string => path.split('?')[0] ?? ''

const mediaTypeOf = (headers: Record<string, string>): string => {
  const value = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
  return (value.split(';')[0] ?? '').toLowerCase()
}

/** The variable parts of the path, and the query. */
function namedValues(route: Route, call: RawCall): Map<string, string[]> {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const values = route.pattern.exec(pathOf(call))?.slice(1) ?? []
  const query = new URLSearchParams(call.path.split('?')[1])
  const named = new Map(names.map((name, at) => [name, [values[at] ?? '']]))
  for (const name of query.keys()) named.set(name, query.getAll(name))
  return named
}

/** A parameter that is repeated, or may be, is an array. */
const valueOf = ({ type }: Schema, values: string[]): unknown =>
  type === 'array' || values.length > 1 ? values : values[0]

/** The files of a multipart body are the `attachments` of a message. */
function withFiles(value: unknown, { operationId }: Operation, { request }: RawCall): unknown {
  const { files } = request as Partial<Call>
  if (files === undefined || operationId !== 'createMMS') return value
  return { ...(value as object), attachments: files.map(() => 'bytes') }
}

const FORM = 'application/x-www-form-urlencoded'

function parsed(type: string, body: string): unknown {
  if (type === FORM) return Object.fromEntries(new URLSearchParams(body))
  // Text that is not JSON is a string, which no body may be.
  return isJson(body) ? JSON.parse(body) : body
}
