import type { z } from 'zod'
import type { Caller } from '../auth/caller.ts'
import { type ErrorName, apiError, errorText } from '../core/errors.ts'
import type { Gateway } from '../gateway.ts'
import type { SocketData } from '../realtime/sockets.ts'
import type { RequestContext } from './request-context.ts'

/**
 * One endpoint: how it is reached, what it takes, what it answers, and the verb that does it. The same zod schemas
 * validate, give the types and describe the endpoint in the OpenAPI document; their messages are names of errors.
 */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** In Elysia's form: `/v1/sms/status/:messageId`. */
  path: string
  /** `app`: a key is demanded before anything is read. */
  auth: 'app' | 'none'
  tag: string
  summary: string
  description?: string
  params?: z.ZodType
  query?: z.ZodType
  body?: z.ZodType
  /** `form` bodies are described as such and may be sent as JSON too, whatever their Content-Type. */
  bodyType?: 'json' | 'form'
  headers?: z.ZodType
  /** Which of several errors a caller is told, most important first; otherwise the first in the schema's order. */
  priority?: readonly ErrorName[]
  /** It may wait for the provider several times over; without this a connection that is silent for 30 s is closed. */
  slow?: true
  /** What a success answers. */
  status: number
  response: z.ZodType | 'html' | 'empty' | 'redirect'
  /** Errors beyond the common ones, by status. */
  errors?: Partial<Record<400 | 401 | 403 | 404 | 409 | 426 | 429 | 502 | 503, readonly string[]>>
  /** Answers of another status with a body of their own: when, and what. */
  otherwise?: Partial<Record<503, readonly [when: string, body: z.ZodType]>>
  /** A gate of the endpoint's own, before the body is read; what it answers is handed to `run` as `admitted`. */
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
  /** What `before` answered. */
  admitted: unknown
  /** The body as it came, for endpoints without a body schema. */
  bytes: Uint8Array
  /** Turns the request into a WebSocket; false when it does not ask for one. */
  upgrade(data: SocketData): boolean
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

interface TypedRoute<P, Q, B> extends Omit<Route, 'run' | 'params' | 'query' | 'body'> {
  params?: P
  query?: Q
  body?: B
  run(
    input: Omit<RouteInput, 'params' | 'query' | 'body'> & { params: Output<P>; query: Output<Q>; body: Output<B> },
  ): unknown
}

/** Declares an endpoint; `run` gets its input as the schemas leave it. */
export function route<
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(definition: TypedRoute<P, Q, B>): Route {
  return definition as unknown as Route
}

/** A schema's verdict as a value, or the error that this endpoint names first. */
export function validated(schema: z.ZodType | undefined, value: unknown, priority: readonly ErrorName[] = []): unknown {
  if (schema === undefined) return undefined
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const names = result.error.issues.map((issue) => issue.message).filter(isErrorName)
  throw apiError(priority.find((name) => names.includes(name)) ?? names[0] ?? 'badJson')
}

/** The message of a schema's rule: the name of the error that it causes. */
export const fails = (name: ErrorName): { error: ErrorName } => ({ error: name })

function isErrorName(name: string): name is ErrorName {
  try {
    return errorText(name as ErrorName) !== ''
  } catch {
    return false
  }
}
