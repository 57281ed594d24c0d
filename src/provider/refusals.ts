import type { Clock } from '../core/clock.ts'
import { DEFAULT_PENALTY_MS } from '../core/limits.ts'
import type { Log } from '../core/log.ts'
import type { Provider, ProviderFailure, Step } from './provider.ts'

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

/** The standing refusals, for `sgw doctor`. In memory only, because each comes again after a restart. */
export class Refusals {
  readonly #standing = new Map<string, StandingRefusal & { at: number }>()

  note(refusal: Refusal, at: number): void {
    const name = nameOf(refusal, refusal.step)
    this.#standing.set(name, { ...refusal, at, since: this.#standing.get(name)?.since ?? at })
  }

  /** Call when the step has succeeded. */
  clear(subject: Subject, step: Step): void {
    this.#standing.delete(nameOf(subject, step))
  }

  /** Clears all steps. Call when the extension is gone or was authorized again. */
  forget({ tenantId, extensionId }: Subject): void {
    for (const [name, one] of this.#standing)
      if (one.tenantId === tenantId && one.extensionId === extensionId) this.#standing.delete(name)
  }

  /** The refusals that stand now. A pause that the provider asked for stands until it is over. */
  list(now: number): StandingRefusal[] {
    return [...this.#standing.values()].filter(
      ({ failure, at }) => failure.reason !== 'rate_limited' || now < at + (failure.retryAfterMs ?? DEFAULT_PENALTY_MS),
    )
  }
}

interface RefusalContext {
  provider: Pick<Provider, 'fixOf' | 'isStanding'>
  directory: { refusals: Refusals }
  config: { publicUrl: string }
  clock: Clock
  log: Log
}

/** Logs a refusal with its fix, records a standing one, and returns the fix. `requestId` is that of the client's request, if any. */
export function noteRefusal(context: RefusalContext, refusal: Refusal, requestId?: string): string {
  const { tenantId, extensionId, step, failure } = refusal
  const fix = context.provider.fixOf(failure, step, context.config.publicUrl)
  const { status, code, requestId: providerRequestId } = failure
  if (context.provider.isStanding(failure)) context.directory.refusals.note(refusal, context.clock.now())
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
  refresh: 'tokens could not be refreshed',
  extension: 'authorization refused: the extension could not be read',
  numbers: 'phone numbers could not be read',
  messages: 'inbound messages could not be looked up',
  subscription: 'inbound messages will come late: the subscription could not be made',
}

const nameOf = ({ tenantId, extensionId }: Subject, step: Step): string => `${tenantId}/${extensionId ?? ''}/${step}`
