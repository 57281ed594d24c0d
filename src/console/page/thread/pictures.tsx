import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Attachment, Sgw } from '../../../client/client.ts'
import { client } from '../state/caller.ts'

/** A larger one would take long on the way to a phone, and its text in the page a third more. */
const MAX_SHOWN_BYTES = 1_000_000

/** A picture as a data URL, which the page's policy allows, or an attachment that is only named. */
interface Shown {
  attachment: Attachment
  url: string | null
}

/** What was read once stays, so that a thread that is drawn again asks for nothing. */
const known = new Map<string, readonly Shown[]>()

interface PicturesProps {
  messageId: string
  /** How many attachments the message has. */
  count: number
  /** Whose bubbles they stand with. */
  side: 'inbound' | 'outbound'
  /** Whether they are read without a click: requests that nobody asked for are few. */
  isRead: boolean
}

/** What a text carries: pictures of up to 1 MB, of anything else its type and size. */
export function Pictures({ messageId, count, side, isRead }: PicturesProps) {
  const shown = useSignal(known.get(messageId))
  const read = (): void => {
    const sgw = client.value
    if (sgw !== null) void readShown(sgw, messageId).then((all) => void (shown.value = all), nothing)
  }
  useEffect(() => {
    shown.value = known.get(messageId)
    if (isRead && shown.value === undefined) read()
  }, [messageId, isRead])
  if (shown.value === undefined)
    return (
      <button type="button" class={`button quiet said-more ${side}`} onClick={read}>
        {count === 1 ? 'Show the attachment' : `Show ${count} attachments`}
      </button>
    )
  return (
    <>
      {shown.value.map(({ attachment, url }) =>
        url === null ? (
          <p class={`said ${side}`} key={attachment.attachmentId}>
            {nameOf(attachment)}
          </p>
        ) : (
          <img
            class={`said-picture ${side}`}
            key={attachment.attachmentId}
            src={url}
            alt={attachment.fileName ?? 'Picture'}
          />
        ),
      )}
    </>
  )
}

/** It can be tried again by the button. */
const nothing = (): void => undefined

async function readShown(sgw: Sgw, messageId: string): Promise<readonly Shown[]> {
  const attachments = await sgw.sms.attachments(messageId)
  const all = await Promise.all(
    attachments.map(async (attachment) => ({ attachment, url: await pictureOf(sgw, messageId, attachment) })),
  )
  known.set(messageId, all)
  return all
}

/** Null for what is no picture or is too large, and for a picture that the provider does not give any more. */
async function pictureOf(
  sgw: Sgw,
  messageId: string,
  { attachmentId, contentType, size }: Attachment,
): Promise<string | null> {
  if (!contentType.startsWith('image/') || (size ?? 0) > MAX_SHOWN_BYTES) return null
  const blob = await sgw.sms.attachment(messageId, attachmentId).catch(() => null)
  // The gateway names a type that it does not trust otherwise.
  return blob === null || blob.size > MAX_SHOWN_BYTES || !blob.type.startsWith('image/') ? null : dataUrlOf(blob)
}

const dataUrlOf = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => reject(new Error('The picture cannot be read')))
    reader.readAsDataURL(blob)
  })

/** `video/mp4, 2.4 MB`. */
function nameOf({ contentType, size }: Attachment): string {
  if (size === null) return contentType
  return `${contentType}, ${size < 1_000_000 ? `${Math.ceil(size / 1000)} KB` : `${(size / 1_000_000).toFixed(1)} MB`}`
}
