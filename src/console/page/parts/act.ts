import { useSignal } from '@preact/signals'
import { whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'

/** Something that a person starts with a button: `act` resolves with whether it succeeded, and `error` is why it failed last, or ''. */
export function useAct() {
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
