import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import './dialog.css'
import { failureText } from '../state/failure.ts'
import { Dialog } from './dialog.tsx'

interface ConfirmProps {
  title: string
  button: string
  isDanger?: boolean
  run: () => Promise<void>
  close: () => void
  children: ComponentChildren
}

/** A sentence with live facts or a field to fill in, and a verb on the button, which Enter in a field presses. An error stays in the dialog. */
export function Confirm({ title, button, isDanger = false, run, close, children }: ConfirmProps) {
  const isBusy = useSignal(false)
  const error = useSignal('')
  const confirm = async (event: Event): Promise<void> => {
    event.preventDefault()
    isBusy.value = true
    try {
      await run()
      close()
    } catch (reason) {
      error.value = failureText(reason)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={(event) => void confirm(event)}>
        <div>{children}</div>
        {error.value !== '' && (
          <p class="bad" role="alert">
            {error.value}
          </p>
        )}
        <div class="actions">
          <button type="button" class="button quiet" onClick={close}>
            Back
          </button>
          <button type="submit" class={isDanger ? 'button danger' : 'button primary'} disabled={isBusy.value}>
            {button}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
