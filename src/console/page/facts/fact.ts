import type { IconName } from '../parts/icon-paths.ts'
import type { View } from '../state/view-names.ts'
import type { KnownAlert } from '../state/alert.ts'

/** A piece of a fact's sentence: text, a phone number, or a link to a view. */
export type Part = string | { number: string } | { text: string; view: View; params: Readonly<Record<string, string>> }

/** Kinds of trouble, the worst first: a person must act, it ends without help, webhooks, failed messages, the machine. */
export const RANKS = ['stopped', 'waits', 'webhooks', 'failures', 'system'] as const
export type Rank = (typeof RANKS)[number]

/** The one button of a fact. */
export type Action =
  | { type: 'invite' }
  | { type: 'authorize'; extension: string; tenantId?: string }
  | { type: 'link'; text: string; view: View; params: Readonly<Record<string, string>> }
  | { type: 'show checks' }
  | { type: 'destination'; params: Readonly<Record<string, string>> }

/** How bad a fact is. */
export interface Kind {
  rank: Rank
  kind: 'bad' | 'warn'
  icon: IconName
}

/** One thing that needs attention: a sentence, since when, and what to press. */
export interface Fact extends Kind {
  key: string
  /** The sentence, without the final period. */
  parts: readonly Part[]
  /** What a person can do or should know, as another sentence; '' without one. */
  advice: string
  since: string | null
  action: Action | null
  /** How many things it is about: messages, attempts, extensions. */
  count: number
  /** The alerts about it. If all of them are muted, it is no longer trouble. */
  alerts?: readonly KnownAlert[]
}

/** What most facts of a rank look like. */
export const KINDS = {
  stopped: { rank: 'stopped', kind: 'bad', icon: 'failed' },
  waits: { rank: 'waits', kind: 'warn', icon: 'waiting' },
  webhooks: { rank: 'webhooks', kind: 'bad', icon: 'webhook' },
  failures: { rank: 'failures', kind: 'bad', icon: 'failed' },
} as const satisfies Partial<Record<Rank, Kind>>

/** The first fact, and the list under "Also needs attention". */
export interface Standings<Each extends Fact> {
  worst: Each | null
  others: readonly Each[]
}

/** Whether all alerts that report a fact are muted: then it is no longer trouble. */
export const isMuted = ({ alerts = [] }: Fact): boolean =>
  alerts.length > 0 && alerts.every(({ mutedUntil }) => mutedUntil !== undefined)

/** The worst fact wins; if two are equally bad, the one about more things, then the older one. */
export function worstFirst<Each extends Fact>(facts: readonly Each[]): Standings<Each> {
  const [worst = null, ...others] = facts
    .filter((fact) => !isMuted(fact))
    .toSorted(
      (a, b) =>
        RANKS.indexOf(a.rank) - RANKS.indexOf(b.rank) ||
        b.count - a.count ||
        (a.since ?? '').localeCompare(b.since ?? ''),
    )
  return { worst, others }
}
