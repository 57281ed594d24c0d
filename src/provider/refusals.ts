import type { Clock } from '../core/clock.ts'
import { DEFAULT_PENALTY_MS } from '../core/limits.ts'
import type { Log } from '../core/log.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { Provider, ProviderFailure, Step } from './provider.ts'
import { type LastingRefusal, encodeRefusals } from './stored-refusals.ts'

/** A refusal by the provider, of an extension's call or of an authorization. */
export interface Refusal {
  tenantId: string
  /** Null for an authorization. */
  extensionId: string | null
  step: Step
  failure: ProviderFailure
}

export interface StandingRefusal extends Refusal {
  /** When it was first recorded, epoch milliseconds. */
  since: number
}

type Subject = Pick<Refusal, 'tenantId' | 'extensionId'>

/**
 * The active refusals, for `sgw doctor`. Lasting refusals of an extension are stored, because after a restart the provider may not repeat them
 * for a while.
 */
export class Refusals {
  /** Called with an extension's lasting refusals when they have changed. */
  store: (key: ExtensionKey, lasting: readonly LastingRefusal[]) => void = () => undefined
  readonly #bySubject = new Map<string, Map<Step, NotedRefusal>>()

  /** Loads what an earlier process stored. */
  restore(key: ExtensionKey, lasting: readonly LastingRefusal[]): void {
    const noted = lasting.map((refusal): [Step, NotedRefusal] => [
      refusal.step,
      { ...key, ...refusal, at: refusal.since },
    ])
    this.#bySubject.set(nameOf(key), new Map(noted))
  }

  note(refusal: Refusal, at: number): void {
    const { step } = refusal
    const noted = this.#bySubject.get(nameOf(refusal)) ?? new Map<Step, NotedRefusal>()
    const before = noted.get(step)
    // A call that RingCentral did not examine says less than the last one that it did.
    if (before !== undefined && isWait(refusal) && !isWait(before) && at < standsUntil(before)) return
    const goesOn = before !== undefined && (step !== 'send' || at < standsUntil(before))
    const after = { ...refusal, at, since: goesOn ? before.since : at }
    this.#bySubject.set(nameOf(refusal), noted.set(step, after))
    if (saidOf(before) !== saidOf(after)) this.#changed(refusal)
  }

  /** Call when the step has succeeded. */
  clear(subject: Subject, step: Step): void {
    if (this.#bySubject.size === 0) return
    const noted = this.#bySubject.get(nameOf(subject))
    const before = noted?.get(step)
    if (noted === undefined || before === undefined) return
    noted.delete(step)
    if (noted.size === 0) this.#bySubject.delete(nameOf(subject))
    if (isLasting(before)) this.#changed(subject)
  }

  /** Clears all steps. Call when the extension is gone or was authorized again. */
  forget(subject: Subject): void {
    const noted = this.#bySubject.get(nameOf(subject))
    this.#bySubject.delete(nameOf(subject))
    if (noted !== undefined && [...noted.values()].some(isLasting)) this.#changed(subject)
  }

  /** The active refusals. */
  list(now: number): StandingRefusal[] {
    return [...this.#bySubject.values()].flatMap((noted) => standing(noted, now))
  }

  /** The active refusals of one extension. */
  of(subject: Subject, now: number): StandingRefusal[] {
    const noted = this.#bySubject.get(nameOf(subject))
    return noted === undefined ? [] : standing(noted, now)
  }

  #changed({ tenantId, extensionId }: Subject): void {
    if (extensionId === null) return
    const noted = this.#bySubject.get(nameOf({ tenantId, extensionId })) ?? new Map<Step, NotedRefusal>()
    this.store({ tenantId, extensionId }, [...noted.values()].filter(isLasting))
  }
}

/** Active until its step succeeds. For sends, only a missing permission is. */
const isLasting = (refusal: Pick<Refusal, 'step' | 'failure'>): boolean => !isWait(refusal) && !isOfMessages(refusal)

/** Something in between refuses messages, perhaps only one of them. */
const isOfMessages = ({ step, failure }: Pick<Refusal, 'step' | 'failure'>): boolean =>
  step === 'send' && failure.reason !== 'rejected'

/** The content of a lasting refusal; unchanged while it continues. */
const saidOf = (refusal: NotedRefusal | undefined): string | null =>
  refusal === undefined || !isLasting(refusal) ? null : encodeRefusals([refusal])

const isWait = ({ failure }: Pick<Refusal, 'failure'>): boolean => failure.reason === 'rate_limited'

type NotedRefusal = StandingRefusal & { at: number }

const standing = (noted: ReadonlyMap<Step, NotedRefusal>, now: number): StandingRefusal[] =>
  [...noted.values()].filter((refusal) => now < standsUntil(refusal))

/** A waiting message is retried each minute, so an older refusal of sends is over, or concerns a message that has ended. */
const SEND_STANDS_MS = 5 * 60_000

/** A requested pause is active until it ends, any other refusal until its step succeeds. */
function standsUntil({ step, failure, at }: NotedRefusal): number {
  if (failure.reason === 'rate_limited') return at + (failure.retryAfterMs ?? DEFAULT_PENALTY_MS)
  return isOfMessages({ step, failure }) ? at + Math.max(SEND_STANDS_MS, failure.retryAfterMs ?? 0) : Infinity
}

interface RefusalContext {
  provider: Pick<Provider, 'fixOf' | 'isStanding'>
  directory: { refusals: Refusals }
  config: { publicUrl: string }
  clock: Clock
  log: Log
}

/**
 * Logs a refusal with its fix, records it if it lasts, and returns the fix. `requestId`: of the client's request, if any; `seen`: a sentence
 * to put first.
 */
export function noteRefusal(
  context: RefusalContext,
  { seen = null, ...refusal }: Refusal & { seen?: string | null },
  requestId?: string,
): string {
  const { tenantId, extensionId, step, failure } = refusal
  const said = context.provider.fixOf(failure, step, context.config.publicUrl)
  const fix = seen === null ? said : `${seen} ${said}`
  const { status, code, requestId: providerRequestId } = failure
  // Somebody who presents a JWT gets the answer immediately, and a start that presents RC_JWT keeps it.
  if (step !== 'jwt' && context.provider.isStanding(failure))
    context.directory.refusals.note(refusal, context.clock.now())
  const fields = {
    requestId,
    tenantId,
    extensionId: extensionId ?? undefined,
    step,
    status,
    code,
    providerRequestId,
    fix,
  }
  context.log.warn(fields, REFUSED[step])
  return fix
}

const REFUSED: Readonly<Record<Step, string>> = {
  authorization: 'authorization refused: the code was not exchanged',
  jwt: 'the JWT connected no extension',
  refresh: 'tokens could not be refreshed',
  extension: 'authorization refused: the extension could not be read',
  numbers: 'phone numbers could not be read',
  messages: 'inbound messages could not be looked up',
  threads: 'inbound messages in threads (Shared Inbox) could not be looked up',
  send: 'messages are refused by something between this machine and the provider',
  subscription: 'inbound messages will come late: the subscription could not be created',
}

const nameOf = ({ tenantId, extensionId }: Subject): string => `${tenantId}/${extensionId ?? ''}`
