import type { StoredSms } from '../provider/provider.ts'

/** What is known of an attempt that a record of the provider's store may belong to. */
export interface Sought {
  from: string
  to: string
  text: string
  /** When the attempt began by the provider's clock, epoch milliseconds. */
  since: number
}

/** The store may cut a long text; this much of it must be there for a match. */
const MIN_PREFIX_UNITS = 100
/** What remains of the difference of the clocks once the provider's `Date` is taken into account. */
const TOLERANCE_MS = 5000

/**
 * The record of an attempt: the oldest one of its conversation with its text that was created after the attempt began and
 * belongs to no other message. A whole text comes before one that the store has cut.
 */
export function matchRecord(
  sought: Sought,
  records: readonly StoredSms[],
  taken: ReadonlySet<string>,
): StoredSms | null {
  const text = comparable(sought.text)
  const candidates = records.filter((record) => isCandidate(sought, record) && !taken.has(record.providerMessageId))
  const whole = candidates.find((record) => comparable(record.text) === text)
  return whole ?? candidates.find((record) => isPrefix(comparable(record.text), text)) ?? null
}

const isCandidate = ({ from, to, since }: Sought, record: StoredSms): boolean =>
  record.from === from && record.to[0]?.phoneNumber === to && record.createdAt >= since - TOLERANCE_MS

const isPrefix = (start: string, text: string): boolean => start.length >= MIN_PREFIX_UNITS && text.startsWith(start)

/** Stores may normalise a text: line ends, composed characters, non-breaking spaces, blanks at its ends. */
const comparable = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(/[\u00A0\u202F]/g, ' ')
    .normalize('NFC')
    .trim()
