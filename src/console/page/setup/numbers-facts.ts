import type { ExtensionHealth } from '../../../client/client.ts'
import { type Fact, KINDS, worstFirst } from '../facts/fact.ts'
import { extensionFacts, isNumberless, isPaused, numbersOf } from '../facts/facts-of.ts'
import { clockTime } from '../state/clock.ts'

export interface NumbersStanding {
  worst: Fact | null
  /** What is wrong with each extension, by its id, worst first. */
  byExtension: ReadonlyMap<string, readonly Fact[]>
}

/** What is wrong with the extensions. `now` in milliseconds. */
export function numbersStanding(extensions: readonly ExtensionHealth[], now: number): NumbersStanding {
  const facts = [
    ...extensionFacts(extensions),
    ...extensions.flatMap((extension) => [numberlessFact(extension), pauseFact(extension, now)]),
  ].filter((fact) => fact !== null)
  const { worst, others } = worstFirst(facts)
  const sorted = worst === null ? [] : [worst, ...others]
  return {
    worst,
    byExtension: new Map(
      extensions.map(({ extensionId }) => [
        extensionId,
        sorted.filter(({ key }) => key === extensionId || key.startsWith(`${extensionId} `)),
      ]),
    ),
  }
}

/** `All 3 numbers can send and receive`, if nothing is wrong. */
export function fineNumbersText(extensions: readonly ExtensionHealth[]): string {
  const numbers = numbersOf(extensions).length
  if (numbers === 1) return 'The number can send and receive'
  return numbers === 2 ? 'Both numbers can send and receive' : `All ${numbers} numbers can send and receive`
}

export const extensionName = ({
  extensionNumber,
  extensionId,
}: Pick<ExtensionHealth, 'extensionNumber' | 'extensionId'>): string => `Extension ${extensionNumber ?? extensionId}`

/** `extension 101`. */
export const midSentenceName = (extension: Parameters<typeof extensionName>[0]): string =>
  extensionName(extension).replace('E', 'e')

const base = { since: null, action: null, count: 1 } as const

function numberlessFact(extension: ExtensionHealth): Fact | null {
  if (!isNumberless(extension)) return null
  return {
    ...base,
    ...KINDS.stopped,
    key: `${extension.extensionId} numbers`,
    parts: [`${extensionName(extension)} has no number that can text`],
    advice: 'Give it a number with SMS at RingCentral, and authorize it again.',
  }
}

function pauseFact(extension: ExtensionHealth, now: number): Fact | null {
  const { extensionId, pausedUntil } = extension
  if (!isPaused(extension, now)) return null
  return {
    ...base,
    key: `${extensionId} pause`,
    ...KINDS.waits,
    parts: [`RingCentral paused ${midSentenceName(extension)} until ${clockTime(pausedUntil ?? now)}`],
    advice: 'Its messages wait and go out then. Nothing is lost.',
  }
}

/**
 * The subscription in words, and the time after them. RingCentral ends the subscription of a revoked extension, so what was known about it no
 * longer counts.
 */
export function subscriptionOf({ subscription: { status, expiresAt }, since, ...extension }: ExtensionHealth): {
  word: string
  at: string | null
} {
  if (extension.status === 'revoked')
    return { word: since === null ? 'ended' : 'ended with the authorization,', at: since }
  if (expiresAt === null) return { word: status, at: null }
  return { word: `${status} ${status === 'expired' ? 'since' : 'until'}`, at: expiresAt }
}
