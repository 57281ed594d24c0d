/** Header fields of ours that a page's script may read, beside the few that browsers always show. */
const EXPOSED = 'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, Idempotent-Replayed'
const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, PUT, DELETE',
  'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key, X-Request-Id',
  'access-control-max-age': '600',
}

/**
 * CORS (Fetch standard, section 3.3) for the origins of `CORS_ORIGINS`; with none it is off and no answer mentions it.
 * Keys travel in a header, never in cookies, so credentials are not allowed to pages.
 */
export class Cors {
  readonly #origins: ReadonlySet<string>

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins)
  }

  /** What every answer to this request carries. `Vary` keeps caches from giving one origin's answer to another. */
  headersFor(request: Request): Record<string, string> {
    if (this.#origins.size === 0) return {}
    const allowed = this.#allowed(request)
    return allowed === null
      ? { vary: 'Origin' }
      : { vary: 'Origin', 'access-control-allow-origin': allowed, 'access-control-expose-headers': EXPOSED }
  }

  /** The answer to a preflight of an allowed origin, else null. Browsers send it without a key: it comes before the gates. */
  preflight(request: Request): Record<string, string> | null {
    const asks = request.method === 'OPTIONS' && request.headers.has('access-control-request-method')
    return asks && this.#allowed(request) !== null ? PREFLIGHT : null
  }

  #allowed(request: Request): string | null {
    const origin = request.headers.get('origin')
    if (origin === null) return null
    if (this.#origins.has('*')) return '*'
    return this.#origins.has(origin) ? origin : null
  }
}
