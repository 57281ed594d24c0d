import type { Overview } from '../../../client/client.ts'
import { isSoon, readStanding } from '../facts/read-standing.ts'
import { listAlerts } from '../facts/alert.ts'
import type { KnownAlert } from '../state/alert.ts'
import { asApp, client, operator } from '../state/caller.ts'
import { type Reading, useReading } from '../state/keep-reading.ts'
import type { Standing } from '../state/standing.ts'
import type { Range } from './ranges.ts'

/** Everything that the view shows at the same time. Troubles are of the last day, regardless of the range. */
export interface Known {
  standing: Standing
  range: Range
  /** For the range. */
  overview: Overview
  /** Empty with an app's key. */
  alerts: readonly KnownAlert[]
}

/** A wait or a revoked extension causes no event, so the view is also reloaded without one; sooner after an event. */
const READ_EVERY_MS = 30_000
const READ_AFTER_EVENT_MS = 15_000

/** Reads the view while it is shown. */
export const useOverview = (range: Range): Reading<Known> =>
  useReading(
    {
      read: () => readOverview(range),
      everyMs: READ_EVERY_MS,
      afterEventMs: READ_AFTER_EVENT_MS,
      isSoon: (known, event) => isSoon(known?.standing ?? null, event),
    },
    [client.value, range],
  )

async function readOverview(range: Range): Promise<Known> {
  const [standing, ofRange, alerts] = await Promise.all([
    readStanding(),
    range.hours === 24 ? null : asApp().overview(range.hours),
    operator.value === null ? [] : listAlerts(),
  ])
  return { standing, range, overview: ofRange ?? standing.overview, alerts }
}
