import { isoTime } from '../../core/clock.ts'
import { EXIT, StartError } from '../../core/start-error.ts'
import { type Comparison, type History, compareHistories } from '../../db/history.ts'
import type { FetchedCopy, LocalFile } from './copies.ts'

/** Two histories that each have changes that the other lacks. `one`: the file, or the copy of an epoch. */
export interface Fork {
  one: LocalFile | FetchedCopy
  other: FetchedCopy
}

/** `local`: keep this machine's file. `isContinued`: the file has everything acknowledged that the copy has. */
export type Newest =
  | { type: 'local' }
  | { type: 'copy'; copy: FetchedCopy; unanswered: number; isContinued: boolean }
  | { type: 'fork'; fork: Fork }

/** Decides which of the copies and the file, if there is one, has everything acknowledged that the others have. Nothing else decides this. */
export function newestOf(copies: readonly FetchedCopy[], local: LocalFile | null): Newest {
  const [first, ...others] = copies
  if (first === undefined) return { type: 'local' }
  const hasAll = local !== null && lacksNothing(copies, local)
  let copy = first
  for (const other of others) {
    const { relation } = compareHistories(copy.history, other.history)
    // A release without chains ignored the location itself if there was an epoch.
    const isFork = relation === 'forked' && other.history.links.length > 0
    if (isFork) return hasAll ? { type: 'local' } : { type: 'fork', fork: { one: copy, other } }
    if (relation === 'less') copy = other
  }
  if (local === null) return { type: 'copy', copy, unanswered: 0, isContinued: false }
  if (hasAll && relationsOf(copies, local).includes('more')) return { type: 'local' }
  const { relation, unanswered } = compareHistories(local.history, copy.history, first.epoch)
  return relation === 'forked'
    ? { type: 'fork', fork: { one: local, other: copy } }
    : { type: 'copy', copy, unanswered, isContinued: hasAll }
}

/** Whether the file has everything acknowledged from each copy. */
const lacksNothing = (copies: readonly FetchedCopy[], local: LocalFile): boolean =>
  relationsOf(copies, local).every((relation) => relation === 'more' || relation === 'same')

const relationsOf = (copies: readonly FetchedCopy[], local: LocalFile): Comparison['relation'][] =>
  copies.map((copy) => compareHistories(local.history, copy.history, copies[0]?.epoch).relation)

/** Why a person has to choose. */
export function forkError({ one, other }: Fork): StartError {
  const named = [one, other].map((side) => `${nameOf(side)} (${lastMessage(side.history)})`)
  return new StartError(
    EXIT.badConfig,
    `${named.join(' and ')} each have changes that the other lacks: nothing was changed. To see what only one of them has, and to choose one: sgw restore --choose local, or sgw restore --choose copy (docs/runbooks.md#two-histories)`,
  )
}

const nameOf = (side: LocalFile | FetchedCopy): string => ('where' in side ? `the copy at ${side.where}` : side.file)

const lastMessage = ({ lastMessageAt }: History): string =>
  lastMessageAt === null ? 'without messages' : `last message ${isoTime(lastMessageAt)}`
