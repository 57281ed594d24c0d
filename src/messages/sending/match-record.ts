import { isSameNumber } from '../../core/phone.ts'
import type { StoredSms } from '../../provider/provider.ts'

/** The fields of an attempt that matching needs. */
export interface Sought {
  from: string
  to: string
  text: string
  /** The types of its media, `type/subtype` in lower case. */
  mediaTypes: readonly string[]
  /** When the attempt began by the provider's clock, epoch milliseconds. */
  since: number
}

/** The store may truncate a long text. A match needs at least this much of the stored text, in UTF-16 units. */
const MIN_PREFIX_UNITS = 100
/** The tolerance of the clock skew measured from the provider's `Date` header. */
const TOLERANCE_MS = 5000

/**
 * Finds the record of an attempt: the oldest one with its conversation and text that was created after the attempt began
 * and belongs to no other message. A record with the full text is preferred to a truncated one.
 */
export function matchRecord(
  sought: Sought,
  records: readonly StoredSms[],
  takenIds: ReadonlySet<string>,
): StoredSms | null {
  const text = comparable(sought.text)
  const candidates = records.filter((record) => isCandidate(sought, record) && !takenIds.has(record.providerMessageId))
  const full = candidates.find((record) => comparable(record.text) === text)
  return full ?? candidates.find((record) => isTruncated(record.text, text)) ?? null
}

/**
 * Whether a record may be the attempt's although its media types differ: RingCentral may have converted them, or somebody sent other files by
 * hand. So the record does not count as the attempt's, but the attempt is not absent either.
 */
export function isDoubtful(sought: Sought, records: readonly StoredSms[], takenIds: ReadonlySet<string>): boolean {
  if (sought.mediaTypes.length === 0) return false
  const isAlike = (record: StoredSms): boolean =>
    isBetween(sought, record) &&
    record.mediaTypes.length === sought.mediaTypes.length &&
    comparable(record.text) === comparable(sought.text)
  return records.some((record) => isAlike(record) && !takenIds.has(record.providerMessageId))
}

/** Somebody sent a group text, or other media with the same words, by hand in one of RingCentral's apps. */
const isCandidate = (sought: Sought, record: StoredSms): boolean =>
  isBetween(sought, record) && hasMedia(record, sought.mediaTypes)

const isBetween = ({ from, to, since }: Sought, record: StoredSms): boolean =>
  record.from !== null &&
  isSameNumber(record.from, from) &&
  isTo(record, to) &&
  record.createdAt >= since - TOLERANCE_MS

/** In any order, each as often. Sizes say nothing, because RingCentral may convert media. A type that the record omits may be any. */
function hasMedia({ mediaTypes }: StoredSms, sought: readonly string[]): boolean {
  if (mediaTypes.length !== sought.length) return false
  const left = [...sought]
  for (const type of mediaTypes) {
    const at = type === null ? -1 : left.indexOf(type)
    if (at >= 0) left.splice(at, 1)
    else if (type !== null) return false
  }
  return true
}

const isTo = ({ to: recipients }: StoredSms, to: string): boolean =>
  recipients.length > 0 && recipients.every(({ phoneNumber }) => phoneNumber !== null && isSameNumber(phoneNumber, to))

/** Whether a stored text is the beginning of `text`. Its length counts before trimming, because the text may be cut after a space. */
function isTruncated(stored: string, text: string): boolean {
  const start = comparable(stored)
  return stored.length >= MIN_PREFIX_UNITS && start !== '' && text.startsWith(start)
}

/** The store may normalize a text: line ends, composed characters, non-breaking spaces, spaces at its ends. */
const comparable = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(/[\u00A0\u202F]/g, ' ')
    .normalize('NFC')
    .trim()
