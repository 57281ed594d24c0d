import type { IconName } from '../parts/icon-paths.ts'
import type { View } from '../state/view-names.ts'

/** A piece of a fact's sentence: text, a phone number, or a link to a view. */
export type Part = string | { number: string } | { text: string; view: View; params: Readonly<Record<string, string>> }

/** What is wrong, from the worst: a person must act, it ends by itself, webhooks, messages that failed, the machine. */
export const RANKS = ['stopped', 'waits', 'webhooks', 'failures', 'system'] as const
export type Rank = (typeof RANKS)[number]

/** The one button of a fact. */
export type Action =
  | { type: 'invite' }
  | { type: 'authorize'; extension: string }
  | { type: 'switch tenant' }
  | { type: 'show checks' }
  | { type: 'destination'; params: Readonly<Record<string, string>> }

/** One thing that needs a look: a sentence, since when, and what to press. */
export interface Fact {
  key: string
  rank: Rank
  kind: 'bad' | 'warn'
  icon: IconName
  /** The sentence, without its full stop. */
  parts: readonly Part[]
  /** What a person can do or mind, in another sentence; '' without one. */
  advice: string
  since: string | null
  action: Action | null
  /** Of how many things: messages, attempts, extensions. */
  count: number
}

/** What is said first, and what stands under "Also needs a look". */
export interface Standings {
  worst: Fact | null
  others: readonly Fact[]
}

/** The worst fact wins; of two that are as bad, the one of more things, then the older one. */
export function worstFirst(facts: readonly Fact[]): Standings {
  const [worst = null, ...others] = facts.toSorted(
    (a, b) =>
      RANKS.indexOf(a.rank) - RANKS.indexOf(b.rank) ||
      b.count - a.count ||
      (a.since ?? '').localeCompare(b.since ?? ''),
  )
  return { worst, others }
}
