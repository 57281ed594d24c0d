import type { StoredSms } from '../../src/provider/provider.ts'

/** The call queue that some numbers belong to. Only a listing of every owner shows its messages. */
export const QUEUE_ID = '900'

/** The record as a listing shows it: a third of them has American numbers without their country. */
export function written<Record extends StoredSms>(record: Record): Record {
  if (Number(record.providerMessageId) % 3 !== 0) return record
  const { from, to } = record
  return { ...record, from: digits(from), to: to.map((one) => ({ ...one, phoneNumber: digits(one.phoneNumber) })) }
}

const digits = (number: string | null): string | null => number?.replace(/^\+1(\d{10})$/, '$1') ?? null
