import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Dialog } from '../parts/dialog.tsx'
import { failureText } from '../state/failure.ts'

interface NameDialogProps {
  title: string
  text: string
  label: string
  button: string
  run: (name: string) => Promise<void>
  close: () => void
  children?: ComponentChildren
}

/** Asks for a name, and makes something of it. An error stays in the dialog. */
export function NameDialog({ title, text, label, button, run, close, children }: NameDialogProps) {
  const name = useSignal('')
  const isBusy = useSignal(false)
  const error = useSignal('')
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    isBusy.value = true
    try {
      await run(name.value.trim())
      close()
    } catch (reason) {
      error.value = failureText(reason)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Dialog title={title} close={close}>
      <form class="setup-form" onSubmit={(event) => void submit(event)}>
        <p>{text}</p>
        <label>
          {label}
          <input
            class="field"
            required
            maxLength={100}
            autoComplete="off"
            value={name.value}
            onInput={({ currentTarget }) => void (name.value = currentTarget.value)}
          />
        </label>
        {children}
        {error.value !== '' && (
          <p class="bad" role="alert">
            {error.value}
          </p>
        )}
        <div class="dialog-actions">
          <button type="button" class="button quiet" onClick={close}>
            Back
          </button>
          <button type="submit" class="button primary" disabled={isBusy.value}>
            {button}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
