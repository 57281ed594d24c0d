import { PROVIDER_CHANGES, type ProviderChangeName, type ProviderChanges } from '../core/provider-changes.ts'
import type { Fault, SimulatorControl } from '../simulator/simulator.ts'

/** What the provider does with a send. Only after `5xx-after` has it accepted the message. */
export type ProviderFault =
  /** Refuses it for now: 429 with `Retry-After: 1`. */
  | '429'
  /** Answers 500 and has not accepted it. */
  | '5xx-before'
  /** Accepts it, but answers 500. */
  | '5xx-after'
  /** Never answers. The gateway gives up after 5 s. */
  | 'hang'

export interface TestProvider extends ProviderChanges {
  /** The next `times` sends, by default one, meet this fault. Calls queue up. */
  next(fault: ProviderFault, times?: number): void
}

const FAULTS: Readonly<Record<ProviderFault, Fault>> = {
  '429': { kind: 'respond', status: 429, headers: { 'Retry-After': '1' } },
  '5xx-before': { kind: 'respond', status: 500 },
  '5xx-after': { kind: 'accept-then-respond', status: 500 },
  hang: { kind: 'hang' },
}

export function createProvider(control: SimulatorControl): TestProvider {
  return {
    ...changesOf(control),
    next(name, times = 1) {
      if (!Object.hasOwn(FAULTS, name))
        throw new Error(`There is no fault ${name}: use one of ${Object.keys(FAULTS).join(', ')}`)
      if (!(Number.isSafeInteger(times) && times > 0)) throw new Error(`times must be a positive number, not ${times}`)
      control.fault({ route: 'sms', calls: times, fault: FAULTS[name] })
    },
  }
}

const changesOf = (control: ProviderChanges): Pick<ProviderChanges, ProviderChangeName> =>
  Object.fromEntries(PROVIDER_CHANGES.map((name) => [name, control[name]])) as Pick<ProviderChanges, ProviderChangeName>
