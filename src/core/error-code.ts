/** The code of an error, or of the error that caused it: Drizzle wraps those of the driver. Null if there is none. */
export function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  if ('code' in error && typeof error.code === 'string') return error.code
  return codeOf(error.cause)
}

/** The error at the beginning of the causes. The message of Drizzle's own error contains the arguments of its statement. */
export const rootOf = (error: Error): Error => (error.cause instanceof Error ? rootOf(error.cause) : error)
