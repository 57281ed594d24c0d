import { and, eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { sleep } from '../../core/clock.ts'
import { apiError } from '../../core/errors.ts'
import { CALLS_KEPT_FOR_SENDS } from '../../core/limits.ts'
import type { Slot } from '../../core/limiter.ts'
import { messages } from '../../db/schema/messages.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { attachmentsOf } from '../../messages/media/attachments.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import type { Attachment, AttachmentContent } from '../../provider/provider.ts'
import { readMedia } from '../../messages/media/read-media.ts'
import type { AttachmentList } from './attachment-schemas.ts'
import { type CarryingMessage, sentAttachment } from './sent-attachment.ts'

/** The attachments of a message of the caller's tenant. Errors: `messageNotFound`. */
export async function listAttachments(gateway: Gateway, caller: Caller, messageId: string): Promise<AttachmentList> {
  const { attachments } = await readMessage(gateway, caller, messageId)
  return {
    attachments: attachments.map(({ attachmentId, contentType, size, fileName }) => ({
      attachmentId,
      contentType,
      size,
      fileName,
    })),
  }
}

/**
 * One attachment: from the gateway if it still keeps the file, otherwise streamed from the provider. Errors: `messageNotFound`,
 * `attachmentNotFound`, `noAttachment`.
 */
export async function getAttachment(
  gateway: Gateway,
  caller: Caller,
  { messageId, attachmentId }: { messageId: string; attachmentId: string },
): Promise<Response> {
  const message = await readMessage(gateway, caller, messageId)
  const attachment = message.attachments.find((one) => one.attachmentId === attachmentId)
  if (attachment === undefined) throw apiError('attachmentNotFound')
  if (message.direction === 'inbound') return fromProvider(gateway, caller, message.extensionId, attachment)
  const bytes = await readMedia(gateway.database.gate, attachmentId)
  if (bytes !== null) return fileAnswer(bytes, attachment.contentType)
  const sent = await sentAttachment(gateway, caller, message, attachment)
  return fromProvider(gateway, caller, sent.extensionId, sent.attachment)
}

async function fromProvider(
  gateway: Gateway,
  caller: Caller,
  extensionId: string | null,
  attachment: Attachment,
): Promise<Response> {
  const extension = await gateway.directory.extension(caller.tenantId, extensionId ?? '')
  if (extension === null || extension.status === 'revoked') throw apiError('noAttachment')
  await takeWindowSlot(gateway, extension.extensionId)
  const slot = await waitForSlot(gateway, caller)
  const content = await contentOf(gateway, extension, attachment).catch((error: unknown) => {
    slot.release()
    throw error
  })
  void content.ended.then(() => slot.release())
  return fileAnswer(content.bytes, content.contentType)
}

const fileAnswer = (bytes: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>, contentType: string): Response =>
  new Response(bytes, { headers: { ...HEADERS, 'content-type': shownType(contentType) } })

async function readMessage({ database }: Gateway, { tenantId }: Caller, messageId: string): Promise<CarryingMessage> {
  const { attachments, receivingExtensionId, direction, from, rcMessageId, updatedAt } = messages
  const [message] = await database.orm
    .select({ attachments, extensionId: receivingExtensionId, direction, from, rcMessageId, updatedAt })
    .from(messages)
    .where(and(eq(messages.tenantId, tenantId), eq(messages.id, messageId)))
  if (message === undefined) throw apiError('messageNotFound')
  return { ...message, attachments: attachmentsOf(message.attachments) }
}

const RETRY_AFTER_SECONDS = 60
const LOOK_AGAIN_MS = 250

/**
 * The provider counts an attachment in the group of the sends (RingCentral's OpenAPI file, `readMessageContent`). So it takes a slot of the
 * extension's window, but only while no message waits and enough slots are free for messages to come. It waits as long as for the provider.
 */
async function takeWindowSlot({ quota, sending, clock, config }: Gateway, extensionId: string): Promise<void> {
  const until = clock.monotonic() + config.providerTimeoutMs
  const mayTake = (): boolean => {
    const { used, limit } = quota.extensionUse(extensionId)
    return !sending.hasWaiting(extensionId) && limit - used >= Math.min(CALLS_KEPT_FOR_SENDS, Math.ceil(limit / 4))
  }
  while (!mayTake()) {
    if (clock.monotonic() >= until) throw apiError('noAttachment', RETRY_AFTER_SECONDS)
    await sleep(clock, LOOK_AGAIN_MS)
  }
  quota.count(extensionId)
}

/** Waits for one of the slots, as long as for the provider. */
function waitForSlot({ downloads, clock, config }: Gateway, { tenantId }: Caller): Promise<Slot> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(config.providerTimeoutMs, () => {
      leave()
      reject(apiError('noAttachment'))
    })
    const leave = downloads.request(tenantId, [], (slot) => {
      cancel()
      resolve(slot)
    })
  })
}

/** A 429 for an attachment pauses attachments only. */
async function contentOf(
  { extensionCalls, provider, log }: Gateway,
  extension: ExtensionRow,
  attachment: Attachment,
): Promise<AttachmentContent> {
  const result = await extensionCalls.make(extension, 'media', (token) => provider.readAttachment(token, attachment))
  if (result.type === 'ok') return result.value
  const { tenantId, extensionId } = extension
  const { status = null, code = null, message = null } = ('failure' in result ? result.failure : null) ?? {}
  log.warn({ tenantId, extensionId, status, code, message }, 'an attachment could not be read')
  throw apiError('noAttachment')
}

/** A contact chose the bytes, so no browser may treat them as a page of the gateway. */
const HEADERS = {
  'content-disposition': 'attachment',
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-store',
}

const SHOWN = /^(?:image\/(?!svg)[\w.-]+|audio\/[\w.+-]+|video\/[\w.+-]+|application\/pdf|text\/(?:x-)?vcard)$/

/** SVG can contain scripts, and so can HTML. */
const shownType = (contentType: string): string => (SHOWN.test(contentType) ? contentType : 'application/octet-stream')
