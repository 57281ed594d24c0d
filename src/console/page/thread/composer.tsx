import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { PhoneNumber } from '../parts/phone-number.tsx'
import { client } from '../state/caller.ts'
import { connection } from '../state/live.ts'
import '../style/composer.css'

const MAX_UNITS = 1600

interface ComposerProps {
  /** What the field is for. */
  label: string
  button: string
  /** A text that is written already; '' without one. */
  draft: string
  /** Our number, or a choice of them. */
  from: ComponentChildren
  contact: string
  /** Sends a text, and says whether it was taken; null if nothing can be sent. */
  send: ((text: string) => Promise<boolean>) | null
  /** Why the last one was not taken; '' if it was. */
  error: string
  /** What stands below the field. */
  children: ComponentChildren
}

/** Writes a text to a contact, and says how many SMS it takes. A text that was not taken stays. */
export function Composer({ label, button, draft, from, contact, send, error, children }: ComposerProps) {
  const text = useSignal('')
  const isBusy = useSignal(false)
  useEffect(() => {
    if (draft !== '') text.value = draft
  }, [draft])
  const submit = async (): Promise<void> => {
    if (text.value === '' || isBusy.value || send === null) return
    isBusy.value = true
    if (await send(text.value)) text.value = ''
    isBusy.value = false
  }
  return (
    <div class="composer">
      <form
        class="composer-box"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <textarea
          dir="auto"
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
        <div class="composer-foot">
          <span class="composer-pair">
            From {from} to <PhoneNumber value={contact} />
          </span>
          <Segments text={text.value} />
          <button type="submit" class="button primary" disabled={isBusy.value || text.value === '' || send === null}>
            {button}
          </button>
        </div>
      </form>
      {error !== '' && (
        <p class="bad composer-error" role="alert">
          {error}
          {!connection.value.online &&
            ' Your text stays here. If the gateway took it, it appears when the connection is back.'}
        </p>
      )}
      {children}
    </div>
  )
}

const COUNT_AFTER_MS = 400

/** How many SMS the text takes, as the gateway counts it. */
function Segments({ text }: { text: string }) {
  const segments = useSignal<number | null>(null)
  const sgw = client.value
  useEffect(() => {
    if (text === '' || sgw === null) return void (segments.value = null)
    const timer = setTimeout(() => {
      void sgw.sms.preview(text).then(
        (preview) => void (segments.value = preview.segments),
        () => undefined,
      )
    }, COUNT_AFTER_MS)
    return () => clearTimeout(timer)
  }, [text, sgw])
  return <span>{segments.value === null ? '' : segments.value === 1 ? '1 segment' : `${segments.value} segments`}</span>
}
