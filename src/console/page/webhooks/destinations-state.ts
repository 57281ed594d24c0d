import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { worstFirst } from '../facts/fact.ts'
import { factsOf } from '../facts/facts-of.ts'
import { troubles } from '../frame/views.ts'
import { client } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import { onEvent } from '../state/live.ts'
import { onReturn } from '../state/loading.ts'
import type { Sources } from './destination.ts'

/** The figures are read again after events, at most this often; soon after what a click has changed. */
const READ_EVERY_MS = 30_000
const READ_SOON_MS = 1500
/** The rail's counts of other views need the extensions, which this view does not show. */
const EXTENSIONS_AFTER_MS = 2000

export interface KnownDestinations {
  sources: Sources | null
  /** Why they could not be read, while nothing is known; '' otherwise. */
  error: string
  /** Reads them again soon. */
  again: () => void
  /** Notes that the figures may have changed. */
  note: () => void
}

/** The destinations of the tenant, and how they did in the last day. */
export function useDestinations(): KnownDestinations {
  const sources = useSignal<Sources | null>(null)
  const error = useSignal('')
  const asks = useRef({ again: () => {}, note: () => {} })
  const sgw = client.value
  useEffect(() => {
    if (sgw === null) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let readAt = -Infinity
    const read = async (): Promise<void> => {
      timer = undefined
      readAt = Date.now()
      try {
        const [overview, apps, triggers] = await Promise.all([sgw.overview(24), sgw.apps.list(), sgw.triggers.list()])
        sources.value = { overview, apps, triggers }
        error.value = ''
      } catch (reason) {
        // What was known stays.
        if (sources.peek() === null) error.value = failureText(reason)
      }
    }
    const note = (): void => {
      timer ??= setTimeout(() => void read(), Math.max(READ_SOON_MS, readAt + READ_EVERY_MS - Date.now()))
    }
    const again = (): void => {
      clearTimeout(timer)
      timer = setTimeout(() => void read(), READ_SOON_MS)
    }
    asks.current = { again, note }
    const ignore = onEvent(note)
    const stay = onReturn(() => void read())
    void read()
    return () => {
      ignore()
      stay()
      clearTimeout(timer)
    }
  }, [sgw])
  useRailCounts(sources.value)
  return {
    sources: sources.value,
    error: error.value,
    again: () => asks.current.again(),
    note: () => asks.current.note(),
  }
}

/** Counts in the rail what is wrong in each view. */
function useRailCounts(sources: Sources | null): void {
  const sgw = client.value
  useEffect(() => {
    if (sources === null || sgw === null) return
    const { overview } = sources
    const { counts } = worstFirst(factsOf({ overview, extensions: [], readAt: 0 }, Date.now()))
    const { webhooks } = counts
    const { webhooks: _, ...others } = troubles.peek()
    troubles.value = webhooks === undefined ? others : { ...others, webhooks }
    const countAll = async (): Promise<void> => {
      const extensions = await sgw.connection.health()
      troubles.value = worstFirst(factsOf({ overview, extensions, readAt: Date.now() }, Date.now())).counts
    }
    // A failure leaves the counts as they are.
    const timer = setTimeout(() => void countAll().catch(() => undefined), EXTENSIONS_AFTER_MS)
    return () => clearTimeout(timer)
  }, [sources])
}
