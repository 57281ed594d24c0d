import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { attachmentsText } from '../messages/row.ts'
import { client } from '../state/caller.ts'
import { Carried } from './carried.tsx'
import { type Carrier, type Shown, BROKEN, kept, readCarried } from './kept-pictures.ts'
import { PictureDialog, factsText, nameOf } from './picture-dialog.tsx'
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
  if (shown === undefined) {
    const label = `Show ${attachmentsText(count)}`
    return (
      <button type="button" class={`button quiet said-more ${look}`} aria-label={label} onClick={read}>
        <Carried count={count} />
      </button>
    )
  }
  const open = (at: number | null): void => void (opened.value = at)
  return (
    <>
      {shown.map((each, index) => (
        <OpenButton
          key={each.attachment.attachmentId}
          shown={each}
          bubble={bubble}
          look={look}
          open={() => open(index)}
        />
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
