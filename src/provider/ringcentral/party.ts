import { z } from 'zod'
import { e164Of } from '../../core/phone.ts'
import type { Recipient } from '../provider.ts'
import { optionalNumber } from './wire-text.ts'

export type Party = z.infer<typeof partySchema>

/** Sender or recipient of a message, even without a number. Records write numbers in several ways. */
export const partySchema = z
  .object({
    phoneNumber: optionalNumber.transform((written) => (written === undefined ? undefined : e164Of(written))),
    extensionNumber: optionalNumber,
    target: z.unknown().optional(),
  })
  .catch({ phoneNumber: undefined, extensionNumber: undefined, target: undefined })

/** Recipients beyond a message's maximum are not read. */
const MAX_RECIPIENTS = 100

/** The recipients of a message. */
export const recipientsSchema = z
  .preprocess((value) => (Array.isArray(value) ? value.slice(0, MAX_RECIPIENTS) : value), z.array(partySchema))
  .catch([])

/** A message between extensions has `extensionNumber` instead of `phoneNumber`. */
export const numberOf = (party: Party | undefined): string | undefined => party?.phoneNumber ?? party?.extensionNumber

export const recipientOf = (party: Party): Recipient => ({
  phoneNumber: numberOf(party) ?? null,
  target: party.target === true,
})
