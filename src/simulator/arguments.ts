import { z } from 'zod'
import { isE164 } from '../core/phone.ts'
import {
  CAMPAIGN_TYPES,
  CONSENT_SOURCES,
  COVERAGES,
  type ListedNumber,
  type NewConsent,
  type NewExtension,
  type NewJwt,
  type NewNumber,
  type NewQueue,
  type NumberSpec,
  OPT_STATUSES,
  PROVIDER_STATUSES,
  SOCKET_FAULTS,
  type SocketFault,
  type StatusChange,
} from '../core/provider-changes.ts'

/**
 * Checks the argument of a knob. Throws for the first member that is unknown, missing or of the wrong kind, and names it. Members
 * may be left out but not undefined (`exactOptional`), because a setting would then become undefined.
 */
export function checked<S extends z.ZodType>(shape: S, argument: z.input<S>): z.output<S> {
  const { data, error } = shape.safeParse(argument, { reportInput: true })
  const issue = error?.issues[0]
  if (issue === undefined) return data as z.output<S>
  if (issue.code === 'unrecognized_keys') throw new Error(`Unknown setting ${[...issue.path, issue.keys[0]].join('.')}`)
  const path = issue.path.join('.')
  if (path === '') throw new Error(issue.message)
  throw new Error(
    `Cannot use ${path}: ${issue.input === undefined ? `it is missing${valuesOf(issue)}` : issue.message}`,
  )
}

/** What a member that is missing may be, where that is a list. */
const valuesOf = (issue: z.core.$ZodIssue): string =>
  issue.code === 'invalid_value' ? `, and may be ${issue.values.map((value) => JSON.stringify(value)).join(', ')}` : ''

/** The members of a shape that checks arguments of a type: each, and of its kind. */
export type MembersOf<T> = { readonly [Name in keyof T]-?: z.ZodType<Required<T>[Name]> }

const text = z.string().min(1)

const numberMembers = {
  phoneNumber: z.string().refine(isE164, 'Write the number with + and its country code, such as +15555550100'),
  features: z.array(text).exactOptional(),
  usageType: text.exactOptional(),
  type: text.exactOptional(),
  paymentType: text.exactOptional(),
  status: text.exactOptional(),
  label: text.exactOptional(),
  primary: z.boolean().exactOptional(),
  campaign: z.strictObject({ status: text, tier: text }).nullable().exactOptional(),
} satisfies MembersOf<NumberSpec>

/** A bare number is one with the defaults. */
const numberSpec = (number: string | NumberSpec): NumberSpec =>
  typeof number === 'string' ? { phoneNumber: number } : number

const extensionMembers = {
  extensionId: text.exactOptional(),
  accountId: text.exactOptional(),
  name: text.exactOptional(),
  extensionNumber: text.exactOptional(),
  numbers: z
    .array(z.preprocess(numberSpec, z.strictObject(numberMembers)))
    .refine(areDistinct, 'Write each number once')
    .exactOptional(),
} satisfies MembersOf<NewExtension>

export const ExtensionShape = z.strictObject(extensionMembers)

export const QueueShape = z.strictObject({
  ...extensionMembers,
  recipients: z.array(text).min(1),
} satisfies MembersOf<NewQueue>)

export const NumberShape = z.strictObject({
  ...numberMembers,
  extensionId: text,
  ownerId: text.exactOptional(),
} satisfies MembersOf<NewNumber>)

export const ListedNumberShape = z.strictObject({
  extensionId: text,
  phoneNumber: numberMembers.phoneNumber,
} satisfies MembersOf<ListedNumber>)

export const StatusShape = z.strictObject({
  extensionId: text,
  status: z.enum(PROVIDER_STATUSES),
} satisfies MembersOf<StatusChange>)

export const ConsentShape = z.strictObject({
  from: numberMembers.phoneNumber.exactOptional(),
  to: numberMembers.phoneNumber,
  optStatus: z.enum(OPT_STATUSES).exactOptional(),
  coverage: z.enum(COVERAGES).exactOptional(),
  campaignType: z.enum(CAMPAIGN_TYPES).exactOptional(),
  source: z.enum(CONSENT_SOURCES).exactOptional(),
  accountId: text.exactOptional(),
  modifiedAt: z.number().exactOptional(),
} satisfies MembersOf<NewConsent>)

export const JwtShape = z.strictObject({
  extensionId: text,
  clientId: text.exactOptional(),
  expiresInSeconds: z.number().min(0).exactOptional(),
} satisfies MembersOf<NewJwt>)

export const SocketFaultShape = z.strictObject({
  kind: z.enum(SOCKET_FAULTS),
  extensionId: text.exactOptional(),
  calls: z.int().positive().nullable().exactOptional(),
  ms: z.number().min(0).exactOptional(),
} satisfies MembersOf<SocketFault>)

export const OwnerShape = z.strictObject({ extensionId: text })
export const PerhapsOwnerShape = z.strictObject({ extensionId: text.exactOptional() })
export const DenialShape = z.strictObject({ calls: z.int().min(0).exactOptional() })
export const AccountShape = z.strictObject({ accountId: text.exactOptional() })
export const DeletedJwtShape = z.strictObject({ jwt: text })
export const ExpiryShape = z.strictObject({
  extensionId: text,
  which: z.enum(['access', 'refresh', 'both']).exactOptional(),
})
export const SubscriptionShape = z.strictObject({ subscriptionId: text })
export const BlacklistShape = z.strictObject({ subscriptionId: text, reason: z.string().exactOptional() })

function areDistinct(numbers: NumberSpec[]): boolean {
  return new Set(numbers.map(({ phoneNumber }) => phoneNumber)).size === numbers.length
}
