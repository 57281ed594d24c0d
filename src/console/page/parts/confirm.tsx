import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import './dialog.css'
import { useAct } from './act.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { type Typed, submitted } from './field.tsx'
import { Refused } from './refused.tsx'

interface ConfirmProps {
  title: string
  button: string
  isDanger?: boolean
  run: (typed: Typed) => Promise<unknown>
  close: () => void
  children: ComponentChildren
}

/** A sentence with live facts or fields to fill, and the verb on the button, which Enter in a field presses. An error stays in the dialog. */
export function Confirm({ title, button, isDanger = false, run, close, children }: ConfirmProps) {
  const { act, isBusy, error } = useAct()
  const confirm = async (typed: Typed): Promise<void> => {
    if (await act(() => run(typed))) close()
  }
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={submitted(confirm)}>
        <div>{children}</div>
        <Refused error={error.value} />
        <div class="actions">
          <Button text="Back" class="button quiet" run={close} />
          <button type="submit" class={isDanger ? 'button danger' : 'button primary'} disabled={isBusy.value}>
            {button}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

interface AskProps extends Omit<ConfirmProps, 'close'> {
  /** The words of the button that asks, by default those of the one that answers. */
  label?: string
  class?: string
}

/** A button that asks before it does something. */
export function Ask({ label, class: className = 'button quiet', ...asked }: AskProps) {
  const isAsked = useSignal(false)
  return (
    <>
      <Button text={label ?? `${asked.button}…`} class={className} run={() => (isAsked.value = true)} />
      {isAsked.value && <Confirm {...asked} close={() => void (isAsked.value = false)} />}
    </>
  )
}
