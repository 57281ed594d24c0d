import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Attachment, Message, Sgw } from '../../../client/client.ts'
import { client } from '../state/caller.ts'
import { sizeText } from './size-text.ts'
import './pictures.css'

/** A larger one of a contact would take long on the way to a phone, and its text in the page a third more. Ours are known to be pictures. */
const MAX_SHOWN_BYTES = { inbound: 1_000_000, outbound: 1_500_000 } as const

/** A picture as a data URL, which the page's policy allows, or an attachment that is only named. */
interface Shown {
  attachment: Attachment
  url: string | null
}

/** What was read once stays, so that a thread that is drawn again asks for nothing. */
const known = new Map<string, readonly Shown[]>()

type Carrier = Pick<Message, 'messageId' | 'direction' | 'attachments'>

interface PicturesProps {
  message: Carrier
  /** Whether they are read without a click: requests that nobody asked for are few. */
  isRead: boolean
  /** The classes of a bubble beside them, and of how they look themselves. */
  bubble: 'said' | 'bubble'
  look: string
}

/** What came or goes with a text: its pictures, of anything else and of what is large its type and size. */
export function Pictures({ message, isRead, bubble, look }: PicturesProps) {
  const { messageId, attachments: count = 0 } = message
  const shown = useSignal(known.get(messageId))
  const read = (): void => {
    const sgw = client.value
    if (sgw !== null) void readShown(sgw, message).then((all) => void (shown.value = all), nothing)
  }
  useEffect(() => {
    shown.value = known.get(messageId)
    if (count > 0 && isRead && shown.value === undefined) read()
  }, [messageId, count, isRead])
  if (count === 0) return null
  if (shown.value === undefined)
    return (
      <button type="button" class={`button quiet said-more ${look}`} onClick={read}>
        {count === 1 ? 'Show the attachment' : `Show ${count} attachments`}
      </button>
    )
  return (
    <>
      {shown.value.map(({ attachment, url }) =>
        url === null ? (
          <p class={`${bubble} ${look}`} key={attachment.attachmentId}>
            <Named {...attachment} />
          </p>
        ) : (
          <img
            class={`said-picture ${look}`}
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

async function readShown(sgw: Sgw, message: Carrier): Promise<readonly Shown[]> {
  const attachments = await sgw.sms.attachments(message.messageId)
  const all = await Promise.all(
    attachments.map(async (attachment) => ({ attachment, url: await pictureOf(sgw, message, attachment) })),
  )
  known.set(message.messageId, all)
  return all
}

/** Null for what is no picture or is too large, and for a picture that the provider does not give any more. */
async function pictureOf(
  sgw: Sgw,
  { messageId, direction }: Carrier,
  { attachmentId, contentType, size }: Attachment,
): Promise<string | null> {
  const most = MAX_SHOWN_BYTES[direction]
  if (!contentType.startsWith('image/') || (size ?? 0) > most) return null
  const blob = await sgw.sms.attachment(messageId, attachmentId).catch(() => null)
  // The gateway names a type that it does not trust otherwise.
  return blob === null || blob.size > most || !blob.type.startsWith('image/') ? null : dataUrlOf(blob)
}

export const dataUrlOf = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => reject(new Error('The picture cannot be read')))
    reader.readAsDataURL(blob)
  })

/** `door.mp4, video/mp4, 2.4 MB`. */
const Named = ({ fileName, contentType, size }: Attachment) => (
  <>
    {fileName !== null && (
      <>
        <span class="mask">{fileName}</span>,{' '}
      </>
    )}
    {contentType}
    {size !== null && `, ${sizeText(size)}`}
  </>
)
