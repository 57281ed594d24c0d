import { z } from 'zod'
import { isE164 } from '../core/phone.ts'
import { PROVIDER_STATUSES, SOCKET_FAULTS } from '../core/simulator-access.ts'

/**
 * Checks the argument of a knob. Throws for the first member that is unknown, missing or of the wrong kind, and names it. Members
 * may be left out but not undefined (`exactOptional`), because a setting would then become undefined.
 */
export function checked<S extends z.ZodType>(shape: S, argument: z.input<S>): z.output<S> {
  const { data, error } = shape.safeParse(argument)
  const issue = error?.issues[0]
  if (issue === undefined) return data as z.output<S>
  if (issue.code === 'unrecognized_keys') throw new Error(`Unknown setting ${[...issue.path, issue.keys[0]].join('.')}`)
  const path = issue.path.join('.')
  throw new Error(path === '' ? issue.message : `Cannot use ${path}: ${issue.message}`)
}

const text = z.string().min(1)

const numberMembers = {
  phoneNumber: z.string().refine(isE164, 'Write the number with + and its country code, such as +15555550100'),
  /** Default: a number for SMS. Pass `[]` for none. */
  features: z.array(text).exactOptional(),
  usageType: text.exactOptional(),
  type: text.exactOptional(),
  paymentType: text.exactOptional(),
  status: text.exactOptional(),
  label: text.exactOptional(),
  primary: z.boolean().exactOptional(),
  /** The 10DLC campaign; null for none. Default: a confirmed one for a local number. */
  campaign: z.strictObject({ status: text, tier: text }).nullable().exactOptional(),
}

const NumberSpecShape = z.strictObject(numberMembers)
export type NumberSpec = z.output<typeof NumberSpecShape>

/** A bare number is one with the defaults. */
const numberSpec = (number: string | NumberSpec): NumberSpec =>
  typeof number === 'string' ? { phoneNumber: number } : number

const extensionMembers = {
  extensionId: text.exactOptional(),
  accountId: text.exactOptional(),
  name: text.exactOptional(),
  extensionNumber: text.exactOptional(),
  numbers: z
    .array(z.preprocess(numberSpec, NumberSpecShape))
    .refine(areDistinct, 'Write each number once')
    .exactOptional(),
}

export const ExtensionShape = z.strictObject(extensionMembers)
export type NewExtension = z.input<typeof ExtensionShape>

export const QueueShape = z.strictObject({
  ...extensionMembers,
  /** The users who may text from its numbers. */
  recipients: z.array(text).min(1),
})
export type NewQueue = z.input<typeof QueueShape>

export const NumberShape = z.strictObject({
  ...numberMembers,
  extensionId: text,
  /** The call queue that it belongs to. Default: the extension itself. */
  ownerId: text.exactOptional(),
})
export type NewNumber = z.input<typeof NumberShape>

export const ListedNumberShape = z.strictObject({ extensionId: text, phoneNumber: numberMembers.phoneNumber })
export type ListedNumber = z.input<typeof ListedNumberShape>

export const StatusShape = z.strictObject({ extensionId: text, status: z.enum(PROVIDER_STATUSES) })
export type StatusChange = z.input<typeof StatusShape>

export const JwtShape = z.strictObject({
  extensionId: text,
  /** The one app that may present it. Default: all. */
  clientId: text.exactOptional(),
  /** Default: no end. */
  expiresInSeconds: z.number().min(0).exactOptional(),
})
export type NewJwt = z.input<typeof JwtShape>

export const SocketFaultShape = z.strictObject({
  kind: z.enum(SOCKET_FAULTS),
  /** Only sockets of this extension. */
  extensionId: text.exactOptional(),
  /** How many of the next connections, tickets, subscriptions or events it affects. Null: all until a reset. Default 1. */
  calls: z.int().positive().nullable().exactOptional(),
  /** How late a delayed event comes. Default 1000. */
  ms: z.number().min(0).exactOptional(),
})
export type SocketFault = z.input<typeof SocketFaultShape>

function areDistinct(numbers: NumberSpec[]): boolean {
  return new Set(numbers.map(({ phoneNumber }) => phoneNumber)).size === numbers.length
}
