import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Overview, Sgw } from '../../../client/client.ts'
import { isSoon, readStanding } from '../facts/read-standing.ts'
import { listAlerts } from '../facts/alert.ts'
import type { Alert } from '../state/alert.ts'
import { client, operator } from '../state/caller.ts'
import { type Reading, keepReading } from '../state/keep-reading.ts'
import type { Standing } from '../state/standing.ts'
import type { Range } from './ranges.ts'

/** Everything that the view shows at the same time. Troubles are of the last day, regardless of the range. */
export interface Known {
  standing: Standing
  range: Range
  /** For the range. */
  overview: Overview
  /** Empty with an app's key. */
  alerts: readonly Alert[]
}

/** A wait or a revoked extension causes no event, so the view is also reloaded without one; sooner after an event. */
const READ_EVERY_MS = 30_000
const READ_AFTER_EVENT_MS = 15_000

/** Reads the view while it is shown; another range's data stays until this one is read. Null until the reader is known. */
export function useReading(range: Range): Reading<Known> | null {
  const sgw = client.value
  const last = useRef<Known | null>(null)
  const reading = useMemo(
    () =>
      sgw &&
      keepReading({
        read: () => readAll(sgw, range),
        known: last.current,
        afterEventMs: READ_AFTER_EVENT_MS,
        everyMs: READ_EVERY_MS,
        isSoon: (known, event) => isSoon(known?.standing ?? null, event),
      }),
    [sgw, range],
  )
  useEffect(() => () => reading?.stop(), [reading])
  last.current = reading?.value.value ?? null
  return reading
}

async function readAll(sgw: Sgw, range: Range): Promise<Known> {
  const [standing, ofRange, alerts] = await Promise.all([
    readStanding(sgw),
    range.hours === 24 ? null : sgw.overview(range.hours),
    operator.value === null ? [] : listAlerts(operator.value),
  ])
  return { standing, range, overview: ofRange ?? standing.overview, alerts }
}
