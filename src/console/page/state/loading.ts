import { type ReadonlySignal, effect, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { whileSignedIn } from './caller.ts'
import { failureText } from './failure.ts'
import { connection } from './live.ts'

/** Something that is read from the gateway: its value, or why there is none. */
export interface Loading<Value> {
  /** The last read value; null before the first. It stays when a later reading fails. */
  value: ReadonlySignal<Value | null>
  /** Why the last reading failed, as a sentence; '' if it did not. */
  error: ReadonlySignal<string>
  again(): void
}

/**
 * Reads something when a part of a view is first drawn, and again when one of `inputs` changes. A failed reading is repeated when the
 * connection returns, so nothing stays blank.
 */
export function useLoading<Value>(read: () => Promise<Value>, inputs: readonly unknown[]): Loading<Value> {
  const loading = useMemo(() => {
    const { load, ...known } = loadingOf(read)
    void load()
    return { ...known, again: () => void load() }
  }, inputs)
  useEffect(() => onReturn(() => loading.error.value !== '' && loading.again()), [loading])
  return loading
}

/** The result of `load`. It is `known` until the first call. */
export function loadingOf<Value>(read: () => Promise<Value>, known: Value | null = null) {
  const value = signal(known)
  const error = signal('')
  let [asked, answered] = [0, 0]
  const load = async (): Promise<void> => {
    const turn = ++asked
    try {
      const found = await whileSignedIn(read())
      // What was asked for later is known already.
      if (turn < answered) return
      answered = turn
      value.value = found
      error.value = ''
    } catch (reason) {
      if (turn > answered) error.value = failureText(reason)
    }
  }
  return { value, error, load }
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
