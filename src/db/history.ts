import { type Counters, hasAllOf } from './counters.ts'

// Decides whether one file or copy of a database continues another. Each start writes a link with a random mark, and each of its commits
// counts itself in that link, so equal links are equal content, whatever a clock or a row says.

/** The commits of one start of a gateway. */
export interface Link {
  mark: string
  /** The epoch of the lease under which the start worked; null without a lease. */
  epoch: number | null
  commits: number
}

export interface History {
  links: readonly Link[]
  /** Links of other histories that a person gave up for this one, up to a number of commits. */
  givenUp: ReadonlyMap<string, number>
  /** The epoch of the gateway that wrote it last; null without a lease. */
  epoch: number | null
  counters: Counters
  /** When its last message was stored, epoch milliseconds; null without messages. */
  lastMessageAt: number | null
}

export interface Comparison {
  /** `more`: the first has everything that the second has, and more. `less`: the reverse. */
  relation: 'same' | 'more' | 'less' | 'forked'
  /** Unacknowledged commits of the first that the second lacks. */
  unanswered: number
}

/**
 * Compares two histories. Commits under a lease that the next holder did not begin with were never acknowledged, so they do not count.
 * `storedUpTo`: the newest epoch with a copy, if the first history is a file: whatever the file has beyond the copies of that epoch and
 * earlier ones was not stored, so it was never acknowledged.
 */
export function compareHistories(one: History, other: History, storedUpTo = 0): Comparison {
  if (one.links.length === 0 || other.links.length === 0) return compareCounters(one, other, storedUpTo)
  const [mine, theirs] = [beyond(one.links, other.links), beyond(other.links, one.links)]
  const unanswered = mine.filter((link) => !counts(link, theirs, other, storedUpTo))
  const mineCount = mine.length > unanswered.length
  const theirsCount = theirs.some((link) => counts(link, mine, one, 0))
  const commits = unanswered.reduce((sum, link) => sum + newCommits(link, other.links), 0)
  const relation = relationOf(mineCount, theirsCount)
  return { relation: relation === 'same' ? byChoices(one, other) : relation, unanswered: commits }
}

const relationOf = (mineCount: boolean, theirsCount: boolean): Comparison['relation'] =>
  mineCount ? (theirsCount ? 'forked' : 'more') : theirsCount ? 'less' : 'same'

/** If the content is equal, continue with the one for which a person gave up others. */
const byChoices = (one: History, other: History): Comparison['relation'] =>
  relationOf(choseBeyond(one, other), choseBeyond(other, one)) === 'more' ? 'more' : 'same'

const choseBeyond = (one: History, other: History): boolean =>
  one.givenUp.keys().some((mark) => !other.givenUp.has(mark))

/** The links of a history after the last commit that both share. */
function beyond(links: readonly Link[], others: readonly Link[]): readonly Link[] {
  let shared = 0
  while (isSame(links[shared], others[shared])) shared++
  const [mine, theirs] = [links[shared], others[shared]]
  const isEarlier = mine !== undefined && mine.mark === theirs?.mark && mine.commits < theirs.commits
  return links.slice(isEarlier ? shared + 1 : shared)
}

const isSame = (one: Link | undefined, other: Link | undefined): boolean =>
  one !== undefined && one.mark === other?.mark && one.commits === other.commits

/** Whether commits of a link that the other history lacks may have been acknowledged. */
function counts(link: Link, theirs: readonly Link[], other: History, storedUpTo: number): boolean {
  if ((other.givenUp.get(link.mark) ?? -1) >= link.commits) return false
  if (link.epoch === null) return true
  if (link.epoch <= storedUpTo) return false
  // The holder of a later epoch began without it.
  const next = theirs.find(({ epoch }) => epoch === null || epoch > (link.epoch ?? 0))
  return next === undefined || next.epoch === null
}

const newCommits = ({ mark, commits }: Link, others: readonly Link[]): number =>
  commits - (others.find((link) => link.mark === mark)?.commits ?? 0)

/** For a file or copy from a release without chains. Its rows decide, as in that release. */
function compareCounters(one: History, other: History, storedUpTo: number): Comparison {
  const result = (relation: Comparison['relation']): Comparison => ({ relation, unanswered: 0 })
  if (one.givenUp.has(markOf(other))) return result('more')
  if (other.givenUp.has(markOf(one))) return result('less')
  // A holder acknowledges what is stored in its epoch, and each epoch begins with all of the previous one.
  if (one.epoch !== null && one.epoch <= storedUpTo) return result('less')
  const [hasAll, lacksNone] = [hasAllOf(one.counters, other.counters), hasAllOf(other.counters, one.counters)]
  if (hasAll && lacksNone) return result(byChoices(one, other))
  return result(relationOf(!lacksNone, !hasAll))
}

/** Stands for a history without links among the abandoned ones. */
const markOf = ({ counters: { incarnation, numbers } }: History): string =>
  `counters ${incarnation} ${[...numbers]
    .map((pair) => pair.join('='))
    .toSorted((one, other) => one.localeCompare(other))
    .join(' ')}`

/** The links that a history must give up to continue without the other one. */
export function linksToGiveUp(one: History, other: History): readonly Pick<Link, 'mark' | 'commits'>[] {
  if (one.links.length > 0 && other.links.length > 0) return beyond(other.links, one.links)
  return [{ mark: markOf(other), commits: 0 }]
}
