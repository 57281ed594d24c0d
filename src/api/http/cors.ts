/** Headers that a page's script may read, besides the few that browsers always allow. */
const EXPOSED = 'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, Idempotent-Replayed, X-Ignored-Fields'
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, PUT, DELETE',
  'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, Sgw-App, X-Request-Id',
  'access-control-max-age': '600',
}

/**
 * CORS (Fetch standard, section 3.3) for the origins of `CORS_ORIGINS`. Without origins it is off and adds no headers. API keys are
 * in a header, never in cookies, so pages need no credentials mode.
 */
export class Cors {
  readonly #origins: ReadonlySet<string>

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins)
  }

  /** The headers of every answer to this request. `Vary` keeps caches from giving one origin's answer to another. */
  headersFor(request: Request): Record<string, string> {
    if (this.#origins.size === 0) return {}
    const allowed = this.#allowed(request)
    return allowed === null
      ? { vary: 'Origin' }
      : { vary: 'Origin', 'access-control-allow-origin': allowed, 'access-control-expose-headers': EXPOSED }
  }

  /** The headers of the answer to a preflight of an allowed origin, else null. Call it before `admit`: browsers send no key with a preflight. */
  preflight(request: Request): Record<string, string> | null {
    const isPreflight = request.method === 'OPTIONS' && request.headers.has('access-control-request-method')
    return isPreflight && this.#allowed(request) !== null ? PREFLIGHT : null
  }

  #allowed(request: Request): string | null {
    const origin = request.headers.get('origin')
    if (origin === null) return null
    if (this.#origins.has('*')) return '*'
    return this.#origins.has(origin) ? origin : null
  }
}
