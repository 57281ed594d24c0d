import { z } from 'zod'
import type { Caller } from '../../core/caller.ts'
import type { ErrorName } from '../../core/errors.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { SocketData } from '../../messages/realtime/sockets.ts'
import type { HeaderName } from './openapi/headers.ts'
import type { RequestContext } from './request-context.ts'

/**
 * One endpoint: its method and path, input, answers, and verb. The zod schemas validate the input, give its types, and describe
 * the endpoint in the OpenAPI document. Their messages are names of errors.
 */
export interface Route {
  /** The name of the operation in the OpenAPI document, and of the method in generated clients: a verb and an object. */
  operationId: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** In Elysia's form: `/v1/sms/status/:messageId`. */
  path: string
  /**
   * Who may call it, checked before the body is read. `app`: an app's key, or an operator's token with `Sgw-App`. `operator`: an
   * operator's token. `app or operator`: both, with or without `Sgw-App`.
   */
  auth: 'app' | 'operator' | 'app or operator' | 'none'
  tag: string
  /** Called by browsers or the provider, not by programs: marked, so that generated clients can leave it out. */
  internal?: true
  summary: string
  description?: string
  params?: z.ZodType
  query?: z.ZodType
  body?: z.ZodType
  /** The schema of a body in which this field has a value, instead of `body`. It gives the same type. */
  bodyWith?: readonly [field: string, schema: z.ZodType]
  /** A `form` body may also be JSON, regardless of its Content-Type. */
  bodyType?: 'json' | 'form'
  headers?: z.ZodType
  /** Which of several errors the answer names, most important first; by default the first in the schema's order. */
  priority?: readonly ErrorName[]
  /** The endpoint may wait for several provider calls, or wait its turn for long reads. Without this, a connection is closed after 30 s of silence. */
  mayWait?: true
  /** The body is a file of one of these types, which `run` reads itself. */
  takesFile?: readonly string[]
  /** Of the body, instead of `MAX_REQUEST_BODY_BYTES`. */
  maxBodyBytes?: number
  /** Of a list of the body, instead of `MAX_BODY_ENTRIES`. */
  maxBodyEntries?: number
  /** The status of a success. */
  status: number
  response: z.ZodType | 'html' | 'file' | 'empty' | 'redirect'
  /** The body of a success of a page that is JSON on request. */
  json?: z.ZodType
  /** An example of a success as CSV, for callers that prefer it to JSON. */
  csv?: string
  /** The answer has a secret, so no cache may keep it. */
  secret?: true
  /** What a client sends after the answer, on a WebSocket. */
  sends?: z.ZodType
  /** Headers of a success beyond the common ones. */
  answerHeaders?: readonly HeaderName[]
  /** Errors beyond the common ones and those by which the query refuses a filter, by status. */
  errors?: Partial<Record<400 | 401 | 403 | 404 | 408 | 409 | 415 | 426 | 429 | 502 | 503, readonly string[]>>
  /** Other answers with a body of their own: when they come, and their schema. */
  otherwise?: Partial<Record<503, readonly [when: string, body: z.ZodType]>>
  /** A check of this endpoint, before the body is read. `run` gets its result as `beforeResult`. */
  before?(input: { gateway: Gateway; request: Request }): unknown
  run(input: RouteInput): unknown
}

export interface RouteInput {
  gateway: Gateway
  request: Request
  context: RequestContext
  caller: Caller
  params: unknown
  query: unknown
  body: unknown
  /** The result of `before`. */
  beforeResult: unknown
  /** The unparsed body, for endpoints without a body schema. */
  bytes: Uint8Array
  /** Turns the request into a WebSocket; returns false if it does not ask for one. */
  upgrade(data: SocketData): boolean
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

interface TypedRoute<P, Q, B> extends Omit<Route, 'run' | 'params' | 'query' | 'body' | 'status'> {
  /** Default 200. */
  status?: number
  params?: P
  query?: Q
  body?: B
  run(
    input: Omit<RouteInput, 'params' | 'query' | 'body'> & { params: Output<P>; query: Output<Q>; body: Output<B> },
  ): unknown
}

/** Declares an endpoint. `run` gets the input as parsed by the schemas. */
export function route<
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(definition: TypedRoute<P, Q, B>): Route {
  return { status: 200, ...definition } as unknown as Route
}

/** Whether an endpoint takes any JSON. Its fields are foreign, whatever they are called. */
export const takesAnyJson = ({ body }: Route): boolean => body instanceof z.ZodUnknown

/** Options of a schema's rule: the name of the error that it causes. */
export const fails = (name: ErrorName): { error: ErrorName } => ({ error: name })

/** The schema that a body of this endpoint has to fit. */
export function schemaFor({ body: usual, bodyWith }: Route, body: unknown): Route['body'] {
  if (bodyWith === undefined || typeof body !== 'object' || body === null) return usual
  const [field, schema] = bodyWith
  return ((body as Readonly<Record<string, unknown>>)[field] ?? null) === null ? usual : schema
}
