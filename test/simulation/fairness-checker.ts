import type { MessageSnapshot } from './message-snapshot.ts'

/** The limits of the scenario. */
export interface FairnessLimits {
  /** The messages of an extension in 60 s; `fromPerMinute`: of a number. */
  extensionPerMinute: number
  fromPerMinute: number
  extensionOf(number: string): string
}

interface Waiting {
  since: number
  /** The position in its line at acceptance. The first one is 1. */
  position: number
  /** The highest number of lines of its extension with work while it waited. */
  lines: number
  line: string
  extensionId: string
}

const MINUTE_MS = 60_000
/** Earlier sends can fill a window for this long, because a slot becomes free 60 s after its call was answered. */
const FULL_WINDOW_MS = MINUTE_MS + 15_000

/**
 * Checks that each message begins within twice its position in its line × the lines with work × 60 s / limit, and the time
 * of a window that was full before. It applies to scenarios without faults, because pauses of the provider add to the wait.
 */
export class FairnessChecker {
  readonly #waiting = new Map<string, Waiting>()

  constructor(
    readonly limits: FairnessLimits,
    readonly violated: (text: string) => void,
  ) {}

  /** After each commit. */
  committed(messages: Iterable<MessageSnapshot>, now: number): void {
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

  #note(message: MessageSnapshot, unended: readonly MessageSnapshot[], now: number): void {
    if (message.status !== 'queued' || this.#waiting.has(message.id)) return
    const line = lineOf(message)
    const position = unended.filter((other) => lineOf(other) === line && other.seq <= message.seq).length
    const extensionId = this.limits.extensionOf(message.from)
    this.#waiting.set(message.id, { since: now, position, lines: 1, line, extensionId })
  }

  #linesWithWork(unended: readonly MessageSnapshot[]): Map<string, Set<string>> {
    const lines = new Map<string, Set<string>>()
    for (const message of unended) {
      const extensionId = this.limits.extensionOf(message.from)
      lines.set(extensionId, (lines.get(extensionId) ?? new Set<string>()).add(lineOf(message)))
    }
    return lines
  }

  #check(id: string, { since, position, lines, line }: Waiting, now: number): void {
    const perMinute = Math.min(this.limits.extensionPerMinute, this.limits.fromPerMinute)
    const boundMs = (2 * position * lines * MINUTE_MS) / perMinute + FULL_WINDOW_MS
    if (now - since > boundMs)
      this.violated(
        `${id} of ${line} waited ${(now - since) / 1000} s, ${boundMs / 1000} s are fair for position ${position} of ${lines} lines`,
      )
  }
}

const lineOf = ({ tenantId, from }: MessageSnapshot): string => `${tenantId} ${from}`
