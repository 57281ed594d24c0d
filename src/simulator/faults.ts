import { seededRandom } from './random.ts'

/**
 * Faults between a client and the platform. With an `accept-` fault, the call is processed completely and only its answer
 * is wrong. Times are real milliseconds, except for `late-accept`.
 */
export type Fault =
  /** An answer without processing. The default body is the one that the platform sends with the status. */
  | { kind: 'respond'; status: number; body?: string | object; headers?: Record<string, string> }
  /** Silence for `ms` (default: until the client disconnects), then the connection is cut. */
  | { kind: 'hang'; ms?: number }
  /** TCP reset before processing. */
  | { kind: 'reset' }
  /** Orderly close before processing. */
  | { kind: 'close' }
  | { kind: 'accept-then-respond'; status: number; body?: string | object; headers?: Record<string, string> }
  | { kind: 'accept-then-hang'; ms?: number }
  | { kind: 'accept-then-reset' }
  | { kind: 'accept-then-close' }
  /** The connection is reset immediately. The call is processed after `ms` of the simulator's clock. */
  | { kind: 'late-accept'; ms: number }
  /** Processed immediately. The right answer comes after `ms`. */
  | { kind: 'delay'; ms: number }
  /** The right answer, its headers one byte per `ms` (default 50). */
  | { kind: 'drip-headers'; ms?: number }
  /** The right answer, its body one byte per `ms` (default 50). */
  | { kind: 'drip-body'; ms?: number }
  /** Processed. The answer is a 200 whose JSON lacks `id`. */
  | { kind: 'no-id' }
  /** Processed. The answer is a 200 with an HTML page. */
  | { kind: 'html' }
  /** Processed. The JSON ends in the middle, in a complete HTTP message. */
  | { kind: 'truncated' }
  /** Processed. The connection is cut in the middle of the body. */
  | { kind: 'cut-body' }

export interface FaultRule {
  /** A route's name (`sms`, `token` …), or `*` for any. */
  route: string
  /** Only calls of this extension's tokens. */
  extensionId?: string
  /** How many calls it affects. Null: all until it is cleared. Default 1. */
  calls?: number | null
  /** How many matching calls pass first. Default 0. */
  after?: number
  fault: Fault
}

export interface RandomFaults {
  seed: number
  /** At most one rule applies to a call. The rates of the rules that match a call add up. */
  rules: { route: string; /** 0 to 1. */ rate: number; fault: Fault }[]
}

interface ActiveRule extends FaultRule {
  left: number
  passing: number
}

export class Faults {
  #rules: ActiveRule[] = []
  #random: (RandomFaults & { next: () => number }) | null = null

  add(rule: FaultRule): void {
    const calls = rule.calls === undefined ? 1 : rule.calls
    this.#rules.push({ ...rule, left: calls ?? Number.POSITIVE_INFINITY, passing: rule.after ?? 0 })
  }

  setRandom(faults: RandomFaults | null): void {
    this.#random = faults === null ? null : { ...faults, next: seededRandom(faults.seed) }
  }

  clear(): void {
    this.#rules = []
    this.#random = null
  }

  /** Returns the fault for this call, if any. The first matching rule applies and counts the call. */
  draw(route: string, extensionId: () => string | null): Fault | null {
    for (const rule of this.#rules) {
      if (!matches(rule, route, extensionId)) continue
      if (rule.passing-- > 0) continue
      rule.left--
      if (rule.left <= 0) this.#rules = this.#rules.filter((one) => one !== rule)
      return rule.fault
    }
    return this.#random === null ? null : drawRandom(this.#random, route)
  }
}

function matches(rule: ActiveRule, route: string, extensionId: () => string | null): boolean {
  if (rule.route !== '*' && rule.route !== route) return false
  return rule.extensionId === undefined || rule.extensionId === extensionId()
}

function drawRandom(random: RandomFaults & { next: () => number }, route: string): Fault | null {
  const rules = random.rules.filter((rule) => rule.route === '*' || rule.route === route)
  if (rules.length === 0) return null
  let point = random.next()
  for (const rule of rules) {
    if (point < rule.rate) return rule.fault
    point -= rule.rate
  }
  return null
}
