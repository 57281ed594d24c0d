import { z } from 'zod'
import type { ProviderFailure, Step } from './provider.ts'

// Reasons that must outlive a restart: RingCentral may not repeat them for a while, for example during a pause. The columns `refusals` and
// `refresh_refusal` of an extension hold them as JSON.

/** A refusal that lasts until its step succeeds. `since`: when it was first recorded, epoch milliseconds. */
export interface LastingRefusal {
  step: Step
  since: number
  failure: ProviderFailure
}

/** Why there is no new pair of tokens, and which step the provider refused. */
export interface RefreshRefusal {
  step: Extract<Step, 'refresh' | 'jwt'>
  failure: ProviderFailure
}

const STEPS = [
  'authorization',
  'jwt',
  'refresh',
  'extension',
  'numbers',
  'messages',
  'threads',
  'send',
  'subscription',
] as const
const REASONS = [
  'rejected',
  'intercepted',
  'unauthorized',
  'rate_limited',
  'unavailable',
  'unreachable',
  'ambiguous',
] as const

const storedFailure = z
  .object({
    reason: z.enum(REASONS),
    status: z.int().nullable(),
    code: z.string().nullable(),
    message: z.string(),
    oauthError: z.string().nullable(),
    retryAfterMs: z.number().nullable(),
    permission: z.string().optional(),
  })
  .transform((failure): ProviderFailure => ({ ...failure, requestId: null }))
const lasting = z.array(z.object({ step: z.enum(STEPS), since: z.number(), failure: storedFailure }))
const ofRefresh = z.object({ step: z.enum(['refresh', 'jwt']), failure: storedFailure })

/** Null if there are none, so that the column shows which rows have no trouble. */
export const encodeRefusals = (refusals: readonly LastingRefusal[]): string | null =>
  refusals.length === 0
    ? null
    : JSON.stringify(refusals.map(({ step, since, failure }) => ({ step, since, failure: kept(failure) })))

/** Empty if they cannot be read: the next attempt brings them again. */
export const decodeRefusals = (stored: string | null): LastingRefusal[] => lasting.safeParse(parsed(stored)).data ?? []

export const encodeRefreshRefusal = ({ step, failure }: RefreshRefusal): string =>
  JSON.stringify({ step, failure: kept(failure) })

export const decodeRefreshRefusal = (stored: string | null): RefreshRefusal | null =>
  ofRefresh.safeParse(parsed(stored)).data ?? null

/** Only the codes of an answer are stored: its words may name a person, and its request id concerns only this answer. */
const kept = (failure: ProviderFailure): ProviderFailure => ({
  ...failure,
  message: failure.status === null ? failure.message : '',
  requestId: null,
})

function parsed(stored: string | null): unknown {
  try {
    return JSON.parse(stored ?? 'null')
  } catch {
    return null
  }
}
