import type { ExtensionHealth } from '../../../client/client.ts'
import type { KnownAlert } from '../state/alert.ts'
import type { Standing } from '../state/standing.ts'
import type { Trouble, View } from '../state/view-names.ts'
import { type Fact, isMuted } from './fact.ts'
import { NONE_CAN_SEND, WAITING, factsOf, isNumberless, isPaused, isStopped } from './facts-of.ts'

/**
 * What the rail counts beside each view: only the worst trouble there, and nothing muted. `now` in milliseconds; `own`: the alerts of the shown
 * tenant; `others`: how many other tenants have one.
 */
export function troublesOf(
  standing: Standing,
  now: number,
  { own, others }: { own: readonly KnownAlert[]; others: number } = { own: [], others: 0 },
): Partial<Record<View, Trouble | null>> {
  const facts = factsOf(standing, now, own)
  const sum = (all: number, fact: Fact): number => all + (isMuted(fact) ? 0 : fact.count)
  const count = (kind: Trouble['kind'], word: string, is: (fact: Fact) => boolean): Trouble | null =>
    trouble(facts.filter(is).reduce(sum, 0), kind, word)
  const isLost = ({ action }: Fact): boolean => action?.type === 'destination' && action.params['state'] !== ''
  const muted = facts.filter(isMuted).map(({ key }) => key)
  // This cannot be muted.
  const isAllHeard = own.some(({ alert }) => alert === NONE_CAN_SEND)
  const heard = standing.extensions.filter(({ extensionId }) => isAllHeard || !muted.includes(extensionId))
  return {
    all: trouble(others, 'bad', others === 1 ? 'other tenant needs attention' : 'other tenants need attention'),
    messages:
      count('warn', 'waiting', ({ key }) => key === WAITING) ??
      count('bad', 'failed', ({ rank }) => rank === 'failures'),
    webhooks:
      count('bad', 'never arrived', isLost) ?? count('bad', 'failed attempts', ({ rank }) => rank === 'webhooks'),
    numbers: standing.extensions.length === 0 ? trouble(1, 'bad', 'needs a number') : numbersTrouble(heard, now),
  }
}

function numbersTrouble(extensions: readonly ExtensionHealth[], now: number): Trouble | null {
  const count = (kind: Trouble['kind'], word: string, is: (extension: ExtensionHealth) => boolean): Trouble | null =>
    trouble(extensions.filter(is).length, kind, word)
  return (
    count('bad', 'cannot send', (each) => isStopped(each) || isNumberless(each)) ??
    count('warn', 'needs attention', ({ reason }) => reason !== null) ??
    count('warn', 'paused', (each) => isPaused(each, now))
  )
}

const trouble = (count: number, kind: Trouble['kind'], word: string): Trouble | null =>
  count === 0 ? null : { count, kind, word }
