import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Attachment } from '../../../client/client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { Refused } from '../parts/refused.tsx'
import { client, whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import { type Shown, BROKEN, readPicture } from './kept-pictures.ts'
import { sizeText } from './size-text.ts'
import '../parts/dialog.css'

interface PictureDialogProps {
  messageId: string
  /** Everything that the message carries. */
  all: readonly Shown[]
  /** Which is shown. */
  at: number
  open: (at: number) => void
  close: () => void
}

const STEPS = [
  ['Previous', 'left', -1],
  ['Next', 'M9 18l6-6-6-6', 1],
] as const

/** One attachment, large, to view and to save. The arrow keys move to the message's other attachments. */
export function PictureDialog({ messageId, all, at, open, close }: PictureDialogProps) {
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
        <button type="button" class="button quiet" onClick={close}>
          Close
        </button>
      </Opened>
    </Dialog>
  )
}

interface OpenedProps {
  messageId: string
  shown: Shown
  /** The content beside Save. */
  children: ComponentChildren
}

/** A picture that was not read yet because it is large is read now. It is not kept. */
function Opened({ messageId, shown, children }: OpenedProps) {
  const { attachment } = shown
  const now = useSignal(shown)
  const error = useSignal('')
  useEffect(() => {
    if (client.value !== null && shown.url === null)
      void readPicture(client.value, messageId, attachment).then((read) => void (now.value = read))
  }, [])
  const { url, problem } = now.value
  const save = (): void => void saveFile(messageId, now.value).catch((reason) => (error.value = failureText(reason)))
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
        <button type="button" class="button primary" onClick={save}>
          Save
        </button>
      </div>
    </>
  )
}

/** Saves a file unchanged, whatever its size. A file that is already here is not read again, because each reading counts for the extension. */
async function saveFile(messageId: string, { attachment, url }: Shown): Promise<void> {
  const read = async (): Promise<Blob | undefined> => client.value?.sms.attachment(messageId, attachment.attachmentId)
  const blob = url === null ? await whileSignedIn(read()) : undefined
  const link = document.createElement('a')
  link.href = blob === undefined ? (url ?? '') : URL.createObjectURL(blob)
  link.download = nameOf(attachment, attachment.attachmentId)
  link.click()
  if (blob !== undefined) setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_MS)
}

/** By then, a browser has begun to save the file. */
const REVOKE_MS = 10_000

/** The name of a file, or its kind if it has no name. */
export const nameOf = ({ fileName, contentType }: Attachment, instead: string): string =>
  fileName ?? (instead === 'Picture' ? instead : `${instead}.${contentType.replace(/^.*\/|[^\w].*$/g, '')}`)

/** `door.mp4, video/mp4, 2.4 MB`. */
export const factsText = ({ fileName, contentType, size }: Attachment): string =>
  [fileName, contentType, size === null ? null : sizeText(size)].filter((fact) => fact !== null).join(', ')
