import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Overview, Sgw } from '../../../client/client.ts'
import type { Standing } from '../facts/facts-of.ts'
import { isSoon } from '../facts/standing.ts'
import { client, operator, whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import { onEvent } from '../state/live.ts'
import { onReturn } from '../state/loading.ts'
import { type Alert, listAlerts } from './machine.ts'
import type { Range } from './ranges.ts'

/** Everything that the view shows at once. What is wrong is of the last day, whatever the range. */
export interface Reading {
  standing: Standing
  range: Range
  /** Of the range. */
  overview: Overview
  /** None with an app's key. */
  alerts: readonly Alert[]
}

/** A wait or a revoked extension makes no event, so the view is read again without one, too; sooner after an event. */
const READ_EVERY_MS = 30_000
const READ_AFTER_EVENT_MS = 15_000
const READ_FIRST_MS = 1000

/** Reads the view while it is shown. What was read stays until it is read again. */
export function useReading(range: Range) {
  const reading = useSignal<Reading | null>(null)
  const error = useSignal('')
  const again = useSignal(0)
  const sgw = client.value
  useEffect(() => (sgw === null ? undefined : keepReading(sgw, range, reading, error)), [sgw, range, again.value])
  return { reading: reading.value, error: error.value, again: () => void again.value++ }
}

function keepReading(sgw: Sgw, range: Range, reading: Signal<Reading | null>, error: Signal<string>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let [readAt, dueAt, isOver] = [0, Infinity, false]
  const due = (inMs: number): void => {
    if (isOver || Date.now() + inMs >= dueAt) return
    clearTimeout(timer)
    dueAt = Date.now() + inMs
    timer = setTimeout(() => void read(), inMs)
  }
  const read = async (): Promise<void> => {
    clearTimeout(timer)
    ;[readAt, dueAt] = [Date.now(), Infinity]
    try {
      const value = await whileSignedIn(readAll(sgw, range))
      if (isOver) return
      reading.value = value
      error.value = ''
    } catch (reason) {
      if (!isOver) error.value = failureText(reason)
    }
    if (!document.hidden) due(READ_EVERY_MS)
  }
  const ignore = onEvent((event) => {
    const isEarly = isSoon(reading.peek()?.standing ?? null, event)
    due(Math.max(READ_FIRST_MS, isEarly ? 0 : readAt + READ_AFTER_EVENT_MS - Date.now()))
  })
  const stay = onReturn(() => void read())
  const onVisible = (): void => due(Math.max(0, readAt + READ_AFTER_EVENT_MS - Date.now()))
  document.addEventListener('visibilitychange', onVisible)
  void read()
  return () => {
    isOver = true
    clearTimeout(timer)
    ignore()
    stay()
    document.removeEventListener('visibilitychange', onVisible)
  }
}

async function readAll(sgw: Sgw, range: Range): Promise<Reading> {
  const readAt = Date.now()
  const [day, extensions, ofRange, alerts] = await Promise.all([
    sgw.overview(24),
    sgw.connection.health(),
    range.hours === 24 ? null : sgw.overview(range.hours),
    operator.value === null ? [] : listAlerts(operator.value),
  ])
  return { standing: { overview: day, extensions, readAt }, range, overview: ofRange ?? day, alerts }
}
