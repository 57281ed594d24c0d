import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Confirm } from '../parts/confirm.tsx'

interface NameDialogProps {
  title: string
  text: string
  label: string
  button: string
  run: (name: string) => Promise<void>
  close: () => void
  children?: ComponentChildren
}

/** Asks for a name, and creates something with it. */
export function NameDialog({ title, text, label, button, run, close, children }: NameDialogProps) {
  const name = useSignal('')
  return (
    <Confirm title={title} button={button} run={() => run(name.value.trim())} close={close}>
      {text}
      <label class="asked">
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
    </Confirm>
  )
}
