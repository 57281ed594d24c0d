import { type ReadonlySignal, useSignal } from '@preact/signals'
import { whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'

/** Something that a person starts with a button. */
export interface Act {
  /** Starts it. Resolves with whether it succeeded. */
  act(run: () => Promise<unknown>): Promise<boolean>
  isBusy: ReadonlySignal<boolean>
  /** Why it failed last, as a sentence; '' if it did not. */
  error: ReadonlySignal<string>
}

export function useAct(): Act {
  const error = useSignal('')
  const isBusy = useSignal(false)
  const act = async (run: () => Promise<unknown>): Promise<boolean> => {
    isBusy.value = true
    try {
      await whileSignedIn(run())
      error.value = ''
    } catch (reason) {
      error.value = failureText(reason)
    }
    isBusy.value = false
    return error.value === ''
  }
  return { act, isBusy, error }
}
