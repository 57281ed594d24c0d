const MAX_WAIT_MS = 60 * 60 * 1000

/**
 * `Retry-After` in milliseconds, at most an hour; null if absent or unreadable. The provider sends seconds. The HTTP date of
 * RFC 9110 10.2.3 is accepted as well, because a proxy may answer instead of the provider.
 */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null
  const value = header.trim()
  if (/^\d+(\.\d+)?$/.test(value)) return withinLimits(Math.ceil(Number(value) * 1000))
  if (!/^[A-Z][a-z]{2}, .+ GMT$/.test(value)) return null
  const at = Date.parse(value)
  return Number.isNaN(at) ? null : withinLimits(at - now)
}

const withinLimits = (waitMs: number): number => Math.min(Math.max(waitMs, 0), MAX_WAIT_MS)
