import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Loaded } from '../frame/loaded.tsx'
import { client } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import { connection } from '../state/live.ts'
import { AttachButton, pastedFiles, useDrop } from './attach.tsx'
import { type Draft, type MediaIds, attach, takesFiles } from './draft.ts'
import { Segments } from './segments.tsx'
import './composer.css'
import '../style/boxed.css'

const MAX_UNITS = 1600

interface ComposerProps {
  /** What the field is for. */
  label: string
  button: string
  /** The typed text. The view that has it decides how long it stays. */
  draft: Draft
  /** Which of the tenant's numbers sends it. */
  number: string
  /** The sender and the receiver. */
  pair: ComponentChildren
  /** Sends a text with uploaded files, and returns whether it was accepted; null if nothing can be sent. */
  send: ((text: string, mediaIds: MediaIds) => Promise<boolean>) | null
  /** Why the last text was refused; '' if it was accepted. */
  error: string
  /** Whether a person is about to write. */
  takesFocus?: boolean
  /** The content beside the button. */
  beside?: ComponentChildren
  /** The content below the field. */
  children?: ComponentChildren
}

/** Writes a text to a contact, with files, and shows how many SMS it takes. A refused text stays. */
export function Composer({ label, button, draft, number, pair, send, error, ...rest }: ComposerProps) {
  const { take, isOver, loadError } = useFiles(draft, send !== null)
  const { submit, isReady } = useSubmit(draft, number, send)
  const attached = draft.attached.value
  const hasFiles = attached !== null && attached.files.value.length > 0
  return (
    <div class="composer">
      <form class={isOver.value ? 'boxed dropping' : 'boxed'} onSubmit={(event) => void submit(event)}>
        <TextField label={label} text={draft.text} submit={submit} take={take} takesFocus={rest.takesFocus} />
        {hasFiles && <Loaded load={loadAttached} props={{ attached, number, text: draft.text.value }} />}
        <div class="line composer-foot">
          <span class="actions composer-facts">
            <span class="line composer-pair">{pair}</span>
            {isOver.value ? (
              <span>Drop the files to attach them.</span>
            ) : hasFiles ? (
              <span>{attached.sizeWith(draft.text.value)}</span>
            ) : (
              draft.text.value !== '' && (
                <span>
                  <Segments text={draft.text.value} />
                </span>
              )
            )}
          </span>
          {take !== null && <AttachButton take={take} />}
          {rest.beside}
          <button type="submit" class="button primary" disabled={!isReady}>
            {button}
          </button>
        </div>
      </form>
      {(loadError.value || error) !== '' && <NotTaken error={loadError.value || error} />}
      {rest.children}
    </div>
  )
}

const loadAttached = () => import('./attached-view.tsx')

/** Attaches files that are chosen, pasted, or dropped anywhere on the page. `take` is null if files cannot be sent. */
function useFiles(draft: Draft, canSend: boolean) {
  const loadError = useSignal('')
  const take = (files: Iterable<File>): void =>
    void attach(draft, files).then(
      () => void (loadError.value = ''),
      (error: unknown) => void (loadError.value = failureText(error)),
    )
  const takes = canSend && takesFiles()
  return { take: takes ? take : null, isOver: useDrop(takes ? take : null), loadError }
}

/** Uploads the files, then sends the draft. All of it stays until it is accepted, and a text that was changed meanwhile stays then, too. */
function useSubmit({ text, attached }: Draft, number: string, send: ComposerProps['send']) {
  const isBusy = useSignal(false)
  const files = attached.value?.files.value.length ? attached.value : null
  const isReady =
    !isBusy.value && send !== null && (files === null ? text.value !== '' : files.canSend(number, text.value))
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (!isReady || client.value === null) return
    isBusy.value = true
    const sent = text.value
    const mediaIds = files === null ? undefined : await files.upload(client.value)
    if (mediaIds !== null && (await send(sent, mediaIds))) {
      if (text.value === sent) text.value = ''
      attached.value = null
    }
    isBusy.value = false
  }
  return { submit, isReady }
}

interface TextFieldProps extends Pick<ComposerProps, 'label'> {
  takesFocus: boolean | undefined
  text: Signal<string>
  submit: (event: Event) => Promise<void>
  /** Takes pasted files. */
  take: ((files: Iterable<File>) => void) | null
}

/** Enter sends; Shift+Enter starts a new line. */
function TextField({ label, text, submit, take, takesFocus }: TextFieldProps) {
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
      onPaste={(event) => {
        const files = pastedFiles(event)
        if (take === null || files.length === 0) return
        event.preventDefault()
        take(files)
      }}
      onInput={({ currentTarget }) => void (text.value = currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) void submit(event)
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
    {contact} is not a phone number, so you cannot send to it. It can only text you.
  </p>
)
