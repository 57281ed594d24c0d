import type { ExtensionHealth } from '../../../client/client.ts'
import type { Alert } from '../state/alert.ts'
import type { Standing } from '../state/standing.ts'
import type { Trouble, View } from '../state/view-names.ts'
import { isMuted } from './fact.ts'
import {
  NONE_CAN_SEND,
  countOf,
  factsOf,
  failedIn,
  isNumberless,
  isPaused,
  isStopped,
  waitsOf,
  whereOf,
} from './facts-of.ts'

/** What fires. */
interface Firing {
  /** For the shown tenant. */
  own: readonly Alert[]
  /** For how many other tenants. */
  others: number
}

/** What the rail counts beside each view: only the worst trouble there, and nothing muted. `now` in milliseconds. */
export function troublesOf(
  standing: Standing,
  now: number,
  { own, others }: Firing = { own: [], others: 0 },
): Partial<Record<View, Trouble | null>> {
  const { overview, extensions } = standing
  const { totals, destinations } = overview
  const facts = factsOf(standing, now, own)
  const muted = new Set(facts.filter(isMuted).map(({ key }) => key))
  const heard = destinations.filter((destination) => !muted.has(whereOf(destination).id))
  // This cannot be muted.
  const noneCanSend = own.some(({ alert }) => alert === NONE_CAN_SEND)
  return {
    all: trouble(others, 'bad', others === 1 ? 'other tenant needs attention' : 'other tenants need attention'),
    messages:
      trouble(muted.has('waiting') ? 0 : countOf(waitsOf(overview)), 'warn', 'waiting') ??
      trouble(failedIn(totals) + totals.undelivered, 'bad', 'failed'),
    webhooks:
      trouble(
        heard.reduce((sum, { neverArrived }) => sum + neverArrived, 0),
        'bad',
        'never arrived',
      ) ??
      trouble(
        heard.reduce((sum, { failingSince, failures }) => sum + (failingSince === null ? 0 : failures), 0),
        'bad',
        'failed attempts',
      ),
    numbers: numbersTrouble(
      noneCanSend ? extensions : extensions.filter(({ extensionId }) => !muted.has(extensionId)),
      extensions.length === 0,
      now,
    ),
  }
}

function numbersTrouble(extensions: readonly ExtensionHealth[], hasNone: boolean, now: number): Trouble | null {
  const those = (are: (extension: ExtensionHealth) => boolean): number => extensions.filter(are).length
  return (
    trouble(hasNone ? 1 : 0, 'bad', 'needs a number') ??
    trouble(
      those((each) => isStopped(each) || isNumberless(each)),
      'bad',
      'cannot send',
    ) ??
    trouble(
      those(({ reason }) => reason !== null),
      'warn',
      'needs attention',
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
