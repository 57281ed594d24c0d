const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Parses a duration such as `500ms`, `15s`, `5m`, `24h` or `7d` to milliseconds; null for anything else. */
export function parseDuration(text: string): number | null {
  const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text.trim())
  if (match === null) return null
  return Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]
}
