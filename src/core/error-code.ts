/** The code of an error, or of its cause: Drizzle wraps the driver's errors. Null if there is none. */
export function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  if ('code' in error && typeof error.code === 'string') return error.code
  return codeOf(error.cause)
}

/** The first cause of an error. The message of Drizzle's own error contains the statement's arguments. */
export const rootOf = (error: Error): Error => (error.cause instanceof Error ? rootOf(error.cause) : error)
