import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Attachment } from '../../../client/client.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon } from '../parts/icon.tsx'
import { client, whileSignedIn } from '../state/caller.ts'
import { failureText } from '../state/failure.ts'
import { type Shown, BROKEN, isPicture, readPicture } from './kept-pictures.ts'
import { sizeText } from './size-text.ts'
import '../parts/dialog.css'

interface PictureDialogProps {
  messageId: string
  /** Everything that the message carries. */
  all: readonly Shown[]
  /** Which one is shown first. */
  start: number
  close: () => void
}

/** One attachment, large, to view and to save. The arrow keys move to the message's other attachments. */
export function PictureDialog({ messageId, all, start, close }: PictureDialogProps) {
  const at = useSignal(start)
  const step = (by: number): void => void (at.value = (at.value + by + all.length) % all.length)
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key === 'ArrowLeft') step(-1)
      if (key === 'ArrowRight') step(1)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [all])
  const shown = all[at.value]
  if (shown === undefined) return null
  return (
    <Dialog title={all.length === 1 ? 'Attachment' : `Attachment ${at.value + 1} of ${all.length}`} close={close}>
      <Opened key={shown.attachment.attachmentId} messageId={messageId} shown={shown}>
        {all.length > 1 && (
          <>
            <StepButton name="Previous" icon="left" run={() => step(-1)} />
            <StepButton name="Next" icon="M9 18l6-6-6-6" run={() => step(1)} />
          </>
        )}
        <button type="button" class="button quiet" onClick={close}>
          Close
        </button>
      </Opened>
    </Dialog>
  )
}

interface StepButtonProps {
  name: string
  icon: 'left' | `M${string}`
  run: () => void
}

const StepButton = ({ name, icon, run }: StepButtonProps) => (
  <button type="button" class="icon-button" aria-label={name} onClick={run}>
    <Icon name={icon} />
  </button>
)

interface OpenedProps {
  messageId: string
  shown: Shown
  children: ComponentChildren
}

/** A picture that was not read yet because it is large is read now. It is not kept. */
function Opened({ messageId, shown, children }: OpenedProps) {
  const { attachment } = shown
  const now = useSignal(shown)
  const error = useSignal('')
  useEffect(() => {
    const sgw = client.value
    if (sgw !== null && shown.url === null && isPicture(attachment))
      void readPicture(sgw, messageId, attachment).then((read) => void (now.value = read))
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
      {(problem || error.value) !== '' && (
        <p class="bad" role="alert">
          {error.value || problem}
        </p>
      )}
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
  const sgw = client.value
  if (sgw === null) return
  const made =
    url === null ? URL.createObjectURL(await whileSignedIn(sgw.sms.attachment(messageId, attachment.attachmentId))) : ''
  const link = document.createElement('a')
  link.href = url ?? made
  link.download = nameOf(attachment, attachment.attachmentId)
  link.click()
  if (made !== '') setTimeout(() => URL.revokeObjectURL(made), REVOKE_MS)
}

/** By then, a browser has begun to save the file. */
const REVOKE_MS = 10_000

/** The name of a file, or its kind if it has no name. */
export const nameOf = ({ fileName, contentType }: Attachment, instead: string): string =>
  fileName ?? (instead === 'Picture' ? instead : `${instead}.${contentType.replace(/^.*\/|[^\w].*$/g, '')}`)

/** `door.mp4, video/mp4, 2.4 MB`. */
export const factsText = ({ fileName, contentType, size }: Attachment): string =>
  [fileName, contentType, size === null ? null : sizeText(size)].filter((fact) => fact !== null).join(', ')
