import type { ExtensionHealth } from '../../../client/client.ts'
import type { Standing } from '../state/standing.ts'
import type { Trouble, View } from '../state/view-names.ts'
import { countOf, failedIn, isNumberless, isPaused, isStopped, waitsOf } from './facts-of.ts'

/** What the rail counts beside each view: of each the worst that there is, and no milder trouble with it. `now` in milliseconds. */
export function troublesOf({ overview, extensions }: Standing, now: number): Partial<Record<View, Trouble | null>> {
  const { totals, destinations } = overview
  return {
    messages:
      trouble(countOf(waitsOf(overview)), 'warn', 'waiting') ??
      trouble(failedIn(totals) + totals.undelivered, 'bad', 'failed'),
    webhooks:
      trouble(
        destinations.reduce((sum, { neverArrived }) => sum + neverArrived, 0),
        'bad',
        'never arrived',
      ) ??
      trouble(
        destinations.reduce((sum, { failingSince, failures }) => sum + (failingSince === null ? 0 : failures), 0),
        'bad',
        'failed attempts',
      ),
    numbers: numbersTrouble(extensions, now),
  }
}

function numbersTrouble(extensions: readonly ExtensionHealth[], now: number): Trouble | null {
  const those = (are: (extension: ExtensionHealth) => boolean): number => extensions.filter(are).length
  return (
    trouble(extensions.length === 0 ? 1 : 0, 'bad', 'needs a number') ??
    trouble(
      those((each) => isStopped(each) || isNumberless(each)),
      'bad',
      'cannot send',
    ) ??
    trouble(
      those(({ reason }) => reason !== null),
      'warn',
      'needs a look',
    ) ??
    trouble(
      those((each) => isPaused(each, now)),
      'warn',
      'paused',
    )
  )
}

const trouble = (count: number, kind: Trouble['kind'], word: string): Trouble | null =>
  count === 0 ? null : { count, kind, word }
