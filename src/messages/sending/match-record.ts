import { isSameNumber } from '../../core/phone.ts'
import type { StoredSms } from '../../provider/provider.ts'

/** The fields of an attempt that matching needs. */
export interface Sought {
  from: string
  to: string
  text: string
  /** When the attempt began by the provider's clock, epoch milliseconds. */
  since: number
}

/** The store may truncate a long text. A match needs at least this much of it as the store keeps it, in UTF-16 units. */
const MIN_PREFIX_UNITS = 100
/** The error of the clock skew that was measured from the provider's `Date` header. */
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

/** A picture or a group text with the same words was sent by hand, in one of RingCentral's apps: the gateway sends neither. */
const isCandidate = ({ from, to, since }: Sought, record: StoredSms): boolean =>
  record.from !== null &&
  isSameNumber(record.from, from) &&
  isTo(record, to) &&
  !record.hasMedia &&
  record.createdAt >= since - TOLERANCE_MS

const isTo = ({ to: recipients }: StoredSms, to: string): boolean =>
  recipients.length > 0 && recipients.every(({ phoneNumber }) => phoneNumber !== null && isSameNumber(phoneNumber, to))

/** Whether a stored text is the beginning of `text`. Its length counts before trimming: the text may be cut after a space. */
function isTruncated(stored: string, text: string): boolean {
  const start = comparable(stored)
  return stored.length >= MIN_PREFIX_UNITS && start !== '' && text.startsWith(start)
}

/** The store may normalise a text: line ends, composed characters, non-breaking spaces, spaces at its ends. */
const comparable = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replaceAll(/[\u00A0\u202F]/g, ' ')
    .normalize('NFC')
    .trim()
