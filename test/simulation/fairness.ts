import type { Seen } from './seen.ts'

/** The bounds that the scenario has. */
export interface FairnessLimits {
  /** Messages of an extension, and of a number, in 60 s. */
  extensionPerMinute: number
  fromPerMinute: number
  extensionOf(number: string): string
}

interface Waiting {
  since: number
  /** Its place in its line when it was accepted, the first one is 1. */
  place: number
  /** The most lines of its extension that had work while it waited. */
  lines: number
  line: string
  extensionId: string
}

const MINUTE_MS = 60_000
/** What was sent before fills a window for as long, which is a pause; a slot is free again 60 s after its call was answered. */
const FULL_WINDOW_MS = MINUTE_MS + 15_000

/**
 * Whether each message begins within twice its place in its line × the lines with work × 60 s / limit, and the time of a window that was
 * full before. For scenarios without faults: pauses of the provider would come on top.
 */
export class Fairness {
  readonly #waiting = new Map<string, Waiting>()

  constructor(
    readonly limits: FairnessLimits,
    readonly violated: (text: string) => void,
  ) {}

  /** After each commit. */
  committed(messages: Iterable<Seen>, now: number): void {
    const unended = [...messages].filter(({ status }) => status === 'queued' || status === 'sending')
    for (const message of unended) this.#note(message, unended, now)
    const lines = this.#linesWithWork(unended)
    for (const [id, waiting] of this.#waiting) {
      waiting.lines = Math.max(waiting.lines, lines.get(waiting.extensionId)?.size ?? 0)
      if (unended.some((message) => message.id === id && message.status === 'queued')) continue
      this.#waiting.delete(id)
      this.#check(id, waiting, now)
    }
  }

  #note(message: Seen, unended: readonly Seen[], now: number): void {
    if (message.status !== 'queued' || this.#waiting.has(message.id)) return
    const line = lineOf(message)
    const place = unended.filter((other) => lineOf(other) === line && other.seq <= message.seq).length
    const extensionId = this.limits.extensionOf(message.from)
    this.#waiting.set(message.id, { since: now, place, lines: 1, line, extensionId })
  }

  #linesWithWork(unended: readonly Seen[]): Map<string, Set<string>> {
    const lines = new Map<string, Set<string>>()
    for (const message of unended) {
      const extensionId = this.limits.extensionOf(message.from)
      lines.set(extensionId, (lines.get(extensionId) ?? new Set<string>()).add(lineOf(message)))
    }
    return lines
  }

  #check(id: string, { since, place, lines, line }: Waiting, now: number): void {
    const perMinute = Math.min(this.limits.extensionPerMinute, this.limits.fromPerMinute)
    const boundMs = (2 * place * lines * MINUTE_MS) / perMinute + FULL_WINDOW_MS
    if (now - since > boundMs)
      this.violated(
        `${id} of ${line} waited ${(now - since) / 1000} s, ${boundMs / 1000} s are fair for place ${place} of ${lines} lines`,
      )
  }
}

const lineOf = ({ tenantId, from }: Seen): string => `${tenantId} ${from}`
