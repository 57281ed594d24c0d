import { fullPathOf, withoutSlash } from '../../core/request-path.ts'

/** An endpoint or a page, as the router knows it. */
export interface Routed {
  method: string
  /** In Elysia's form: `/v1/sms/status/:messageId`. */
  path: string
}

/** Whether a request names the path of an endpoint. */
export type PathTest = (request: Request) => boolean

/**
 * Makes the test of an endpoint's path.
 *
 * Bun 1.4.4 resolves `..`, `%2e` and `\` in the URL of a request, but its router compares the path as it was sent: a request with `params` has
 * passed it. All others are found by Elysia in the URL, of which it skips the first letters: with a Host of less than four characters, or
 * none, it finds `/` for `/health/`. On the Unix socket every request is from sgw's own commands, and Elysia finds all of them.
 */
export function ownPathTest({ path }: Routed, local: boolean): PathTest {
  const isOwn = testOf(withoutSlash(path))
  return local ? (request) => isOwn(withoutSlash(fullPathOf(request))) : (request) => isRouted(request, isOwn)
}

const isRouted = (request: Request, isOwn: (path: string) => boolean): boolean =>
  'params' in request && isOwn(fullPathOf(request))

function testOf(pattern: string): (path: string) => boolean {
  if (!pattern.includes(':')) return (path) => path === pattern
  const names = pattern.split('/')
  return (path) => isFilled(names, path.split('/'))
}

const isFilled = (names: readonly string[], segments: readonly string[]): boolean =>
  names.length === segments.length &&
  names.every((name, index) => (name.startsWith(':') ? segments[index] !== '' : name === segments[index]))

type Handler = (request: Bun.BunRequest, server: Bun.Server<unknown>) => Promise<Response | undefined>

/**
 * Bun's routes for paths that end with a slash, which Elysia removes from its own. Bun has none for exactly these, so the handlers also get
 * longer paths.
 */
export function slashRoutes<T extends Routed>(
  endpoints: readonly T[],
  handlerOf: (endpoint: T, isOwnPath: PathTest) => Handler,
): Record<string, Record<string, Handler>> {
  const routes: Record<string, Record<string, Handler>> = {}
  for (const endpoint of endpoints) {
    if (endpoint.path === '/') continue
    const path = `${withoutSlash(endpoint.path)}/`
    const isOwn = testOf(path)
    const handler = handlerOf(endpoint, (request) => isRouted(request, isOwn))
    routes[`${path}*`] = { ...routes[`${path}*`], [endpoint.method]: handler }
  }
  return routes
}
