import type { Clock } from '../core/clock.ts'
import { DEFAULT_PENALTY_MS } from '../core/limits.ts'
import type { Log } from '../core/log.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { Provider, ProviderFailure, Step } from './provider.ts'
import { type LastingRefusal, encodeRefusals } from './stored-refusals.ts'

/** A refusal of the provider, for an extension or for an authorization that failed. */
export interface Refusal {
  tenantId: string
  /** Null for an authorization. */
  extensionId: string | null
  step: Step
  failure: ProviderFailure
}

export interface StandingRefusal extends Refusal {
  /** When it was noted first, epoch milliseconds. */
  since: number
}

type Subject = Pick<Refusal, 'tenantId' | 'extensionId'>

/** The standing refusals, for `sgw doctor`. Those of an extension that last are stored: after a restart the provider may not say them again for a while. */
export class Refusals {
  /** Called with those of an extension that last, when they have changed. */
  store: (key: ExtensionKey, lasting: readonly LastingRefusal[]) => void = () => undefined
  readonly #bySubject = new Map<string, Map<Step, NotedRefusal>>()

  /** Takes what an earlier process has stored. */
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
    // A call that RingCentral did not even look at says less than the last one that it did.
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

  /** The refusals that stand now. */
  list(now: number): StandingRefusal[] {
    return [...this.#bySubject.values()].flatMap((noted) => standing(noted, now))
  }

  /** The refusals of one extension that stand now. */
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

/** Stands until its step succeeds. Of sends only a missing permission does. */
const isLasting = (refusal: Pick<Refusal, 'step' | 'failure'>): boolean => !isWait(refusal) && !isOfMessages(refusal)

/** Something on the way refuses messages, perhaps one alone. */
const isOfMessages = ({ step, failure }: Pick<Refusal, 'step' | 'failure'>): boolean =>
  step === 'send' && failure.reason !== 'rejected'

/** What a refusal that lasts says; the same as long as it goes on. */
const saidOf = (refusal: NotedRefusal | undefined): string | null =>
  refusal === undefined || !isLasting(refusal) ? null : encodeRefusals([refusal])

const isWait = ({ failure }: Pick<Refusal, 'failure'>): boolean => failure.reason === 'rate_limited'

type NotedRefusal = StandingRefusal & { at: number }

const standing = (noted: ReadonlyMap<Step, NotedRefusal>, now: number): StandingRefusal[] =>
  [...noted.values()].filter((refusal) => now < standsUntil(refusal))

/** A message that waits is tried again each minute, so a refusal of sends that is older is over, or concerns a message that has ended. */
const SEND_STANDS_MS = 5 * 60_000

/** A pause that the provider asked for stands until it is over, any other refusal until the step succeeds. */
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

/** Logs a refusal with its fix, records a standing one, and returns the fix. `requestId` is that of the client's request, if any; `seen` a sentence that goes before it. */
export function noteRefusal(
  context: RefusalContext,
  { seen = null, ...refusal }: Refusal & { seen?: string | null },
  requestId?: string,
): string {
  const { tenantId, extensionId, step, failure } = refusal
  const said = context.provider.fixOf(failure, step, context.config.publicUrl)
  const fix = seen === null ? said : `${seen} ${said}`
  const { status, code, requestId: providerRequestId } = failure
  // A JWT is presented by somebody who gets the answer at once, and RC_JWT by a start that keeps it.
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
  subscription: 'inbound messages will come late: the subscription could not be made',
}

const nameOf = ({ tenantId, extensionId }: Subject): string => `${tenantId}/${extensionId ?? ''}`
