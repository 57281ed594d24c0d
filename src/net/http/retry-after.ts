/**
 * Reads `Retry-After`, a number of seconds or an HTTP date (RFC 9110 10.2.3). Returns milliseconds from 0 to `maxMs`, 0 if it
 * is unreadable, or null if the header is absent or empty.
 */
export function retryAfterMs(header: string | null, now: number, maxMs: number): number | null {
  const value = header?.trim() ?? ''
  if (value === '') return null
  if (/^\d+(\.\d+)?$/.test(value)) return Math.min(Math.ceil(Number(value) * 1000), maxMs)
  if (!/^[A-Z][a-z]{2}, .+ GMT$/.test(value)) return 0
  const at = Date.parse(value)
  return Number.isNaN(at) ? 0 : Math.min(Math.max(at - now, 0), maxMs)
}
