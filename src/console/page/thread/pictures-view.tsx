import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Attachment } from '../../../client/client.ts'
import { attachmentsText } from '../messages/row.ts'
import { useAct } from '../parts/act.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { Refused } from '../parts/refused.tsx'
import { save } from '../parts/save.ts'
import { asApp, client } from '../state/caller.ts'
import { Carried } from './carried.tsx'
import { sizeText } from './files.ts'
import { type Carrier, type Shown, BROKEN, kept, readCarried, readPicture } from './kept-pictures.ts'
import '../parts/dialog.css'
import './pictures.css'

export interface PicturesProps {
  message: Carrier
  /** Whether they are read without a click: only few requests may be made that nobody asked for. */
  isRead: boolean
  /** The classes of an adjacent bubble, and of their own appearance. */
  bubble: 'said' | 'bubble'
  look: string
}

/** What a text carries: its pictures, and the name, type and size of large files and everything else. A click opens it. */
export default function Pictures({ message, isRead, bubble, look }: PicturesProps) {
  const { messageId, attachments: count = 0 } = message
  const opened = useSignal<number | null>(null)
  const shown = kept.value.get(messageId)
  const read = (): void => {
    // The button tries it again.
    if (client.value !== null) void readCarried(client.value, message).catch(() => undefined)
  }
  useEffect(() => {
    if (isRead && shown === undefined) read()
  }, [messageId, count, isRead])
  const label = `Show ${attachmentsText(count)}`
  if (shown === undefined)
    return (
      <button type="button" class={`button quiet said-more ${look}`} aria-label={label} onClick={read}>
        <Carried count={count} />
      </button>
    )
  const open = (at: number | null): void => void (opened.value = at)
  return (
    <>
      {shown.map((each, index) => (
        <OpenButton key={each.attachment.attachmentId} shown={each} {...{ bubble, look }} open={() => open(index)} />
      ))}
      {opened.value !== null && (
        <PictureDialog messageId={messageId} all={shown} at={opened.value} open={open} close={() => open(null)} />
      )}
    </>
  )
}

interface OpenButtonProps extends Pick<PicturesProps, 'bubble' | 'look'> {
  shown: Shown
  open: () => void
}

/** A small picture, or a description in a bubble. Both open the attachment large. */
function OpenButton({ shown: { attachment, url, problem }, bubble, look, open }: OpenButtonProps) {
  const isBroken = useSignal(false)
  const trouble = isBroken.value ? BROKEN : problem
  if (url !== null && !isBroken.value)
    return (
      <button type="button" class={`said-picture ${look}`} onClick={open}>
        <img src={url} alt={nameOf(attachment, 'Picture')} onError={() => void (isBroken.value = true)} />
      </button>
    )
  return (
    <button type="button" class={`${bubble} ${look}`} onClick={open}>
      <span class="mask">{factsText(attachment)}</span>
      {trouble !== '' && <span class="stack small">{trouble}</span>}
    </button>
  )
}

interface PictureDialogProps {
  messageId: string
  all: readonly Shown[]
  at: number
  open: (at: number) => void
  close: () => void
}

const STEPS = [
  ['Previous', 'left', -1],
  ['Next', 'M9 18l6-6-6-6', 1],
] as const

/** One attachment, large, to view and to save. The arrow keys move to the message's other attachments. */
function PictureDialog({ messageId, all, at, open, close }: PictureDialogProps) {
  // A second key can come before the first one has been drawn.
  const chosen = useRef(at)
  chosen.current = at
  const step = (by: number): void => open((chosen.current = (chosen.current + by + all.length) % all.length))
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key === 'ArrowLeft') step(-1)
      if (key === 'ArrowRight') step(1)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
  const shown = all[at]
  if (shown === undefined) return null
  return (
    <Dialog title={all.length === 1 ? 'Attachment' : `Attachment ${at + 1} of ${all.length}`} close={close}>
      <Opened key={shown.attachment.attachmentId} messageId={messageId} shown={shown}>
        {all.length > 1 && STEPS.map(([label, icon, by]) => <IconButton {...{ label, icon }} run={() => step(by)} />)}
        <Button text="Close" class="button quiet" run={close} />
      </Opened>
    </Dialog>
  )
}

interface OpenedProps extends Pick<PictureDialogProps, 'messageId'> {
  shown: Shown
  children: ComponentChildren
}

/** A picture that was not read yet because it is large is read now. It is not kept. */
function Opened({ messageId, shown, children }: OpenedProps) {
  const { attachment } = shown
  const now = useSignal(shown)
  const { act, error } = useAct()
  useEffect(() => {
    if (client.value !== null && shown.url === null)
      void readPicture(client.value, messageId, attachment).then((read) => void (now.value = read))
  }, [])
  const { url, problem } = now.value
  return (
    <>
      {url !== null && (
        <img
          class="picture-large"
          src={url}
          alt={nameOf(attachment, 'Picture')}
          onError={() => void (now.value = { attachment, url: null, problem: BROKEN })}
        />
      )}
      <p class="small dim">
        <span class="mask">{factsText(attachment)}</span>
      </p>
      <Refused error={error.value || problem} />
      <div class="actions">
        {children}
        <Button text="Save" class="button primary" run={() => act(() => saveShown(messageId, now.value))} />
      </div>
    </>
  )
}

/** Saves a file unchanged, whatever its size. A file that is already here is not read again, because each reading counts for the extension. */
async function saveShown(messageId: string, { attachment, url }: Shown): Promise<void> {
  const { attachmentId } = attachment
  const file = url ?? (await asApp().sms.attachment(messageId, attachmentId))
  save(file, nameOf(attachment, attachmentId))
}

/** The name of a file, or its kind if it has no name. */
const nameOf = ({ fileName, contentType }: Attachment, instead: string): string =>
  fileName ?? (instead === 'Picture' ? instead : `${instead}.${contentType.replace(/^.*\/|[^\w].*$/g, '')}`)

/** `door.mp4, video/mp4, 2.4 MB`. */
const factsText = ({ fileName, contentType, size }: Attachment): string =>
  [fileName, contentType, size === null ? null : sizeText(size)].filter((fact) => fact !== null).join(', ')
