import { type Signal, signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Loaded } from '../frame/loaded.tsx'
import { Button } from '../parts/button.tsx'
import { client, me } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import { connection } from '../state/live.ts'
import type { AttachedFiles } from './attached-view.tsx'
import { Segments } from './segments.tsx'
import './composer.css'
import '../style/boxed.css'

/** The text being written to a contact, with its files; null until one is attached for the first time. */
export interface Draft {
  text: Signal<string>
  attached: Signal<AttachedFiles | null>
}

export const newDraft = (): Draft => ({ text: signal(''), attached: signal(null) })

/** The files of a message after their upload; undefined for a plain text. */
export type MediaIds = readonly string[] | undefined

const MAX_UNITS = 1600

interface ComposerProps {
  label: string
  button: string
  /** The typed text. The view that has it decides how long it stays. */
  draft: Draft
  number: string
  pair: ComponentChildren
  /** Sends a text with uploaded files, and returns whether it was accepted; null if nothing can be sent. */
  send: ((text: string, mediaIds: MediaIds) => Promise<boolean>) | null
  /** Why the last text was refused; '' if it was accepted. */
  error: string
  /** Whether a person is about to write. */
  takesFocus?: boolean | undefined
  beside?: ComponentChildren
  children?: ComponentChildren
}

/** Writes a text to a contact, with files, and shows how many SMS it takes. A refused text stays. */
export function Composer({ label, button, draft, number, pair, send, error, ...rest }: ComposerProps) {
  const { take, isOver, loadError } = useFiles(draft, send !== null)
  const { submit, isReady } = useSubmit(draft, number, send)
  const attached = draft.attached.value
  const hasFiles = attached !== null && attached.files.value.length > 0
  const fact = isOver.value
    ? 'Drop the files to attach them.'
    : hasFiles
      ? attached.sizeWith(draft.text.value)
      : draft.text.value !== '' && <Segments text={draft.text.value} />
  return (
    <div class="composer">
      <form class={isOver.value ? 'boxed dropping' : 'boxed'} onSubmit={(event) => void submit(event)}>
        <TextField label={label} text={draft.text} submit={submit} take={take} takesFocus={rest.takesFocus} />
        {hasFiles && <Loaded load={loadAttached} props={{ attached, number, text: draft.text.value }} />}
        <div class="line composer-foot">
          <span class="actions composer-facts">
            <span class="line composer-pair">{pair}</span>
            {fact && <span>{fact}</span>}
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

/** The code for files is loaded with the first one. */
const loadAttached = () => import('./attached-view.tsx')

type Take = (files: Iterable<File>) => void

/** Attaches files that are chosen, pasted, or dropped anywhere on the page. `take` is null if files cannot be sent. */
function useFiles({ attached }: Draft, canSend: boolean) {
  const loadError = useSignal('')
  const add = async (files: Iterable<File>): Promise<void> => {
    // The files of an event are gone after it.
    const all = [...files]
    const file = await loadAttached().catch(failureText)
    loadError.value = typeof file === 'string' ? file : ''
    if (typeof file === 'string') return
    attached.value ??= new file.AttachedFiles()
    attached.value.add(all)
  }
  const take: Take | null = canSend && (me.value?.mediaLimit ?? 0) > 0 ? (files) => void add(files) : null
  return { take, isOver: useDrop(take), loadError }
}

/** Uploads the files, then sends the draft. All of it stays until it is accepted, and what was changed meanwhile stays then, too. */
function useSubmit({ text, attached }: Draft, number: string, send: ComposerProps['send']) {
  const isBusy = useSignal(false)
  const files = attached.value?.files.value.length ? attached.value : null
  const isReady =
    !isBusy.value && send !== null && (files === null ? text.value !== '' : files.canSend(number, text.value))
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (!isReady || client.value === null) return
    isBusy.value = true
    const [sent, sentFiles] = [text.value, files?.files.value ?? []]
    const mediaIds = files === null ? undefined : await files.upload(client.value)
    if (mediaIds !== null && (await send(sent, mediaIds))) {
      if (text.value === sent) text.value = ''
      for (const file of sentFiles) attached.value?.remove(file)
    }
    isBusy.value = false
  }
  return { submit, isReady }
}

interface TextFieldProps extends Pick<ComposerProps, 'label' | 'takesFocus'> {
  text: Signal<string>
  submit: (event: Event) => Promise<void>
  take: Take | null
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

/** What a browser offers first. Some browsers then convert a photo in a format that phones do not accept. */
const ACCEPT = 'image/jpeg,image/png,image/gif,image/webp,image/bmp,image/tiff,video/*,audio/*,.pdf,.vcf,.ics,.txt'

function AttachButton({ take }: { take: Take }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button text="Attach" class="button quiet" run={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={ACCEPT}
        aria-label="Files to attach"
        onChange={({ currentTarget }) => {
          take(currentTarget.files ?? [])
          // The same file can be chosen again after it was removed.
          currentTarget.value = ''
        }}
      />
    </>
  )
}

/** Takes files that are dropped anywhere on the page, which a browser would otherwise open. Says whether files are being dragged over it. */
function useDrop(take: Take | null) {
  const isOver = useSignal(false)
  useEffect(() => {
    const drag = (event: DragEvent): void => {
      if (take === null || !event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      isOver.value = event.type === 'dragover'
      if (event.type === 'drop') take(event.dataTransfer.files)
    }
    const names = ['dragover', 'dragleave', 'drop'] as const
    for (const name of names) document.addEventListener(name, drag)
    return () => names.forEach((name) => document.removeEventListener(name, drag))
  })
  return isOver
}

/** Pasted files. Text that an office program copies also comes with a picture of it. */
const pastedFiles = ({ clipboardData }: ClipboardEvent): readonly File[] =>
  clipboardData === null || clipboardData.getData('text/plain') !== '' ? [] : [...clipboardData.files]
