import { useEffect, useMemo } from 'preact/hooks'
import { client } from '../state/caller.ts'
import { type Reading, keepReading } from '../state/keep-reading.ts'
import type { Sources } from './destination.ts'

/** The figures are read again after events, at most this often. */
const READ_EVERY_MS = 30_000

/** The destinations of the tenant, and their results in the last day. Null until it is known who reads them. */
export function useDestinations(): Reading<Sources> | null {
  const sgw = client.value
  const reading = useMemo(() => {
    if (sgw === null) return null
    const read = async (): Promise<Sources> => {
      const [overview, apps, triggers] = await Promise.all([
        sgw.overview(24, 'nextAttempt'),
        sgw.apps.list(),
        sgw.triggers.list(),
      ])
      return { overview, apps, triggers }
    }
    return keepReading({ read, afterEventMs: READ_EVERY_MS })
  }, [sgw])
  useEffect(() => () => reading?.stop(), [reading])
  return reading
}
