import { signal } from '@preact/signals'
import type { Attachment, Message, Sgw } from '../../../client/client.ts'
import { failureText } from '../state/failure.ts'
import { dataUrlOf } from './files.ts'

/** A larger picture would take long to reach a phone, and a third more space as text in the page: it is read when it is opened. */
const MAX_SHOWN_BYTES = { inbound: 1_000_000, outbound: 1_500_000 } as const
/** How many pictures are kept in memory: the most recently read ones. */
const MAX_KEPT = 20

/** An attachment: a picture that was read, one that cannot be shown, or only its description. */
export interface Shown {
  attachment: Attachment
  /** A data URL; null for anything that is not a picture, is large, or cannot be shown. */
  url: string | null
  /** Why a picture cannot be shown, as a sentence; '' if no reason is known. */
  problem: string
}

export type Carrier = Pick<Message, 'messageId' | 'direction' | 'attachments'>

/** The pictures read so far, by message, newest reading last. They stay, so that redrawing a thread requests nothing. */
export const kept = signal<ReadonlyMap<string, readonly Shown[]>>(new Map())

/** Reads what a message carries, including pictures up to a certain size. */
export async function readCarried(sgw: Sgw, { messageId, direction }: Carrier): Promise<void> {
  const attachments = await sgw.sms.attachments(messageId)
  const most = MAX_SHOWN_BYTES[direction]
  const all = await Promise.all(attachments.map((attachment) => readPicture(sgw, messageId, attachment, most)))
  const others = [...kept.value].filter(([id]) => id !== messageId)
  kept.value = new Map(newest([...others, [messageId, all]]))
}

/** The readings that fit into the memory limit. The last one always stays, because somebody is looking at it. */
function newest(readings: readonly (readonly [string, readonly Shown[]])[]) {
  let count = 0
  const from = readings.findLastIndex(([, all], index) => {
    count += all.filter(({ url }) => url !== null).length
    return count > MAX_KEPT && index < readings.length - 1
  })
  return readings.slice(from + 1)
}

/** Reads an attachment that is a picture of at most this many bytes. */
export async function readPicture(
  sgw: Sgw,
  messageId: string,
  attachment: Attachment,
  most = Infinity,
): Promise<Shown> {
  const facts = { attachment, url: null, problem: '' }
  if (!attachment.contentType.startsWith('image/') || (attachment.size ?? 0) > most) return facts
  try {
    const blob = await sgw.sms.attachment(messageId, attachment.attachmentId)
    if (blob.size > most) return facts
    // The gateway changes the name of a type that it does not trust.
    return blob.type.startsWith('image/') ? { ...facts, url: await dataUrlOf(blob) } : { ...facts, problem: BROKEN }
  } catch (error) {
    return { ...facts, problem: failureText(error) }
  }
}

export const BROKEN = 'A browser cannot show this picture.'
