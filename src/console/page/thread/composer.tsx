import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { connection } from '../state/live.ts'
import { Segments } from './segments.tsx'
import './composer.css'
import '../style/boxed.css'

const MAX_UNITS = 1600

interface ComposerProps {
  /** What the field is for. */
  label: string
  button: string
  /** What is written. The view that has it decides how long it stays. */
  text: Signal<string>
  /** From whom to whom. */
  pair: ComponentChildren
  /** Sends a text, and says whether it was taken; null if nothing can be sent. */
  send: ((text: string) => Promise<boolean>) | null
  /** Why the last one was not taken; '' if it was. */
  error: string
  /** Whether a person is about to write. */
  takesFocus?: boolean
  /** What stands beside the button. */
  beside?: ComponentChildren
  /** What stands below the field. */
  children?: ComponentChildren
}

/** Writes a text to a contact, and says how many SMS it takes. A text that was not taken stays. */
export function Composer({ label, button, text, pair, send, error, takesFocus, beside, children }: ComposerProps) {
  const isBusy = useSignal(false)
  const submit = async (): Promise<void> => {
    if (text.value === '' || isBusy.value || send === null) return
    isBusy.value = true
    if (await send(text.value)) text.value = ''
    isBusy.value = false
  }
  return (
    <div class="composer">
      <form
        class="boxed composer-box"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <TextField label={label} text={text} submit={submit} takesFocus={takesFocus} />
        <div class="line composer-foot">
          <span class="composer-facts">
            <span class="line composer-pair">{pair}</span>
            {text.value !== '' && (
              <span>
                <Segments text={text.value} />
              </span>
            )}
          </span>
          {beside}
          <button type="submit" class="button primary" disabled={isBusy.value || text.value === '' || send === null}>
            {button}
          </button>
        </div>
      </form>
      {error !== '' && <NotTaken error={error} />}
      {children}
    </div>
  )
}

interface TextFieldProps extends Pick<ComposerProps, 'label' | 'text'> {
  takesFocus: boolean | undefined
  submit: () => Promise<void>
}

/** Enter sends, and Shift with Enter begins a line. */
function TextField({ label, text, submit, takesFocus }: TextFieldProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (takesFocus) field.current?.focus()
  }, [takesFocus])
  return (
    <textarea
      dir="auto"
      ref={field}
      aria-label={label}
      placeholder={label}
      maxLength={MAX_UNITS}
      rows={2}
      value={text.value}
      onInput={({ currentTarget }) => void (text.value = currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
        event.preventDefault()
        void submit()
      }}
    />
  )
}

const NotTaken = ({ error }: { error: string }) => (
  <p class="bad composer-error" role="alert">
    {error}
    {!connection.value.online &&
      ' Your text stays here. If the gateway took it, it appears when the connection is back.'}
  </p>
)

/** Why nothing can be sent to a short code or to a sender's name. */
export const NoReply = ({ contact }: { contact: string }) => (
  <p class="dim small composer-error">
    {contact} is no phone number, so nothing can be sent there. It can only text you.
  </p>
)
