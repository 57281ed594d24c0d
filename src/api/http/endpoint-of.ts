import { withoutSlash } from '../../core/request-path.ts'

/** An endpoint or a page, as the router knows it. */
export interface Routed {
  method: string
  /** In Elysia's form: `/v1/sms/status/:messageId`. */
  path: string
}

/**
 * Finds an endpoint by a path without its trailing slash, with the values of its path's parameters; null if there is none. A name comes
 * before a parameter.
 *
 * Bun's router takes `/v1/apps/` and `/v1/apps` for different. Elysia's, which is asked then, skips the first letters of the URL, so with a Host
 * header of less than four characters, or none, it finds `/` for `/health/`, and `/ws` for `/v1/ws`.
 */
export function endpointOf<T extends Routed>(
  endpoints: readonly T[],
  method: string,
  path: string,
): { endpoint: T; params: Record<string, string> } | null {
  const wanted = method === 'HEAD' ? 'GET' : method
  const [best] = endpoints
    .filter((endpoint) => endpoint.method === wanted)
    .flatMap((endpoint) => {
      const params = paramsOf(endpoint.path, path)
      return params === null ? [] : [{ endpoint, params }]
    })
    .toSorted((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)
  return best ?? null
}

/** Whether an endpoint is the one of a path without its trailing slash. */
export function testOf({ path: pattern }: Routed): (path: string) => boolean {
  if (pattern.includes(':')) return (path) => paramsOf(pattern, path) !== null
  const own = withoutSlash(pattern)
  return (path) => path === own
}

function paramsOf(pattern: string, path: string): Record<string, string> | null {
  const names = withoutSlash(pattern).split('/')
  const segments = path.split('/')
  if (names.length !== segments.length) return null
  const params: Record<string, string> = {}
  for (const [index, name] of names.entries()) {
    const given = segments[index] ?? ''
    if (name.startsWith(':') && given !== '') params[name.slice(1)] = decoded(given)
    else if (name !== given) return null
  }
  return params
}

/** As Elysia does. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
