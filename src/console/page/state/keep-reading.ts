import { useEffect, useMemo, useRef } from 'preact/hooks'
import { operator } from './caller.ts'
import { onEvent } from './live.ts'
import type { LiveEvent } from './live-event.ts'
import { type Loading, loadingOf, onReturn } from './loading.ts'

/** Soon after an event that changes the headline, or a click: by then, its effects have happened. */
export const SOON_MS = 1000

export interface Reading<Value> extends Loading<Value> {
  /** Reads again after a change without an event, but not more often than after events. */
  note(): void
  stop(): void
}

/** With an app's key, a return reads again only what is this old: many returns in a minute must not use up the key's requests. */
const RETURN_MS = 10_000

const readings = new Set<(inMs: number) => void>()

/** Everything on the page is read again, as after a click that changes what several parts show. */
export const readAll = (inMs = 0): void => readings.forEach((due) => due(inMs))

/** Calls `listener` whenever everything is read again, until the returned function is called. */
export function onReadAll(listener: (inMs: number) => void): () => void {
  readings.add(listener)
  return () => void readings.delete(listener)
}

interface ReadingOptions<Value> {
  read: () => Promise<Value>
  /** While the page is visible, it is read again this often, because some changes have no event. The default is never. */
  everyMs?: number
  /** After an event, it is read again at most this often. Default `everyMs`. */
  afterEventMs?: number
  /** Whether an event changes so much that nobody should wait for it. */
  isSoon?: (value: Value | null, event: LiveEvent) => boolean
}

/** Reads something while a part of a view is drawn, and something else when one of `inputs` changes: what was known stays until that is read. */
export function useReading<Value>(options: ReadingOptions<Value>, inputs: readonly unknown[]): Reading<Value> {
  const last = useRef<Value | null>(null)
  const reading = useMemo(() => keepReading(options, last.current), inputs)
  useEffect(() => () => reading.stop(), [reading])
  last.current = reading.value.value
  return reading
}

/** Reads something now, after events, and when the connection or a person returns, until it is stopped. */
function keepReading<Value>(options: ReadingOptions<Value>, known: Value | null): Reading<Value> {
  const { read, everyMs = Infinity, afterEventMs = everyMs, isSoon } = options
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
  const note = (): void => due(Math.max(SOON_MS, readAt + afterEventMs - Date.now()))
  // A change without an event, such as an extension that was authorized elsewhere, is noticed when a person returns.
  const onVisible = (): void => {
    if (!document.hidden) due(operator.value ? 0 : readAt + RETURN_MS - Date.now())
  }
  const stays = [
    onEvent((event) => (isSoon?.(value.peek(), event) === true ? due(SOON_MS) : note())),
    onReturn(again),
    onReadAll(due),
  ]
  document.addEventListener('visibilitychange', onVisible)
  again()
  const stop = (): void => {
    isOver = true
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', onVisible)
    for (const leave of stays) leave()
  }
  return { value, error, again, note, stop }
}
