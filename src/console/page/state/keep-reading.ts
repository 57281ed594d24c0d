import { onEvent } from './live.ts'
import type { LiveEvent } from './live-event.ts'
import { type Loading, loadingOf, onReturn } from './loading.ts'

/** Soon after an event that changes the headline, or a click: by then, its effects have happened. */
const SOON_MS = 1000

export interface Reading<Value> extends Loading<Value> {
  /** Reads again soon, after a click. */
  soon(): void
  /** Reads again after a change without an event, but not more often than after events. */
  note(): void
  stop(): void
}

const readings = new Set<() => void>()

/** Reads everything on the page again soon, after a click that changes what several parts show. */
export const readAllSoon = (): void => readings.forEach((soon) => soon())

interface ReadingOptions<Value> {
  read: () => Promise<Value>
  /** The value before the first reading. */
  known?: Value | null
  /** After an event, it is read again at most this often. */
  afterEventMs: number
  /** While the page is visible, it is read again this often, because some changes have no event. The default is never. */
  everyMs?: number
  /** Whether an event changes so much that nobody should wait for it. */
  isSoon?: (value: Value | null, event: LiveEvent) => boolean
}

/** Reads something now, after events, and when the connection returns, until it is stopped. */
export function keepReading<Value>(options: ReadingOptions<Value>): Reading<Value> {
  const { read, known, afterEventMs, everyMs = Infinity, isSoon } = options
  const { value, error, load } = loadingOf(read, known)
  let timer: ReturnType<typeof setTimeout> | undefined
  let [readAt, dueAt, isOver] = [0, Infinity, false]
  const run = async (): Promise<void> => {
    clearTimeout(timer)
    ;[readAt, dueAt] = [Date.now(), Infinity]
    await load()
    if (!document.hidden) due(everyMs)
  }
  /** Plans a reading, unless an earlier one is planned. */
  const due = (inMs: number): void => {
    if (isOver || Date.now() + inMs >= dueAt) return
    clearTimeout(timer)
    dueAt = Date.now() + inMs
    timer = setTimeout(again, inMs)
  }
  const again = (): void => void run()
  const soon = (): void => due(SOON_MS)
  const note = (): void => due(Math.max(SOON_MS, readAt + afterEventMs - Date.now()))
  // A change without an event, such as an extension that was authorized elsewhere, is noticed when a person returns.
  const onVisible = (): void => void (document.hidden || note())
  const stays = [onEvent((event) => (isSoon?.(value.peek(), event) === true ? soon() : note())), onReturn(again)]
  document.addEventListener('visibilitychange', onVisible)
  readings.add(soon)
  again()
  const stop = (): void => {
    isOver = true
    readings.delete(soon)
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', onVisible)
    for (const leave of stays) leave()
  }
  return { value, error, again, soon, note, stop }
}
