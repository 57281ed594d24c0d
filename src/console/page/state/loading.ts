import { type ReadonlySignal, effect, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { whileSignedIn } from './caller.ts'
import { failureText } from './failure.ts'
import { connection } from './live.ts'

/** Something that is read from the gateway: its value, or why it is not there. */
export interface Loading<Value> {
  /** Null until it was read. */
  value: ReadonlySignal<Value | null>
  /** Why the last reading failed, as a sentence; '' if it did not. */
  error: ReadonlySignal<string>
  again(): void
}

/**
 * Reads something when a part of a view is first drawn, and again when one of `inputs` changes. A reading that failed is tried
 * again when the connection returns, so nothing stays blank.
 */
export function useLoading<Value>(read: () => Promise<Value>, inputs: readonly unknown[]): Loading<Value> {
  const loading = useMemo(() => loadingOf(read), inputs)
  useEffect(() => onReturn(() => loading.error.value !== '' && loading.again()), [loading])
  return loading
}

function loadingOf<Value>(read: () => Promise<Value>) {
  const value = signal<Value | null>(null)
  const error = signal('')
  const load = async (): Promise<void> => {
    try {
      value.value = await whileSignedIn(read())
      error.value = ''
    } catch (reason) {
      error.value = failureText(reason)
    }
  }
  void load()
  return { value, error, again: () => void load() }
}

/** Calls `run` when the connection returns, until the returned function is called. */
export function onReturn(run: () => void): () => void {
  let wasOnline = connection.peek().online
  return effect(() => {
    const { online } = connection.value
    if (online && !wasOnline) run()
    wasOnline = online
  })
}
