import { MAX_ATTACHMENT_BYTES } from '../../core/limits.ts'
import type { Attachment, AttachmentContent, ProviderFailure, ProviderResult } from '../provider.ts'
import { mediaTypeOf } from './attachment-records.ts'
import { ownFailure } from './errors.ts'
import type { Requester } from './request.ts'

/** `GET …/message-store/{messageId}/content/{attachmentId}`, at the address that the record names. */
export async function readAttachment(
  requester: Requester,
  accessToken: string,
  { uri, contentType }: Attachment,
): Promise<ProviderResult<AttachmentContent>> {
  const url = ownAddress(uri, requester.address)
  if (url === null) return { ok: false, failure: NOT_OURS }
  const answered = await requester.download(url, accessToken, MAX_ATTACHMENT_BYTES)
  if (!answered.ok) return answered
  const { header, bytes, ended } = answered.value
  return { ok: true, value: { contentType: mediaTypeOf(header('content-type')) ?? contentType, bytes, ended } }
}

const NOT_OURS: ProviderFailure = ownFailure(
  'rejected',
  "The record names an address that is not the provider's; nothing was sent",
)

/** The host of the media beside each platform: RingCentral's own, and that of its segregated partners. */
const MEDIA_OF: ReadonlyMap<string, string> = new Map([
  ['https://platform.ringcentral.com', 'https://media.ringcentral.com'],
  ['https://platform.ringcentral.biz', 'https://media.ringcentral.biz'],
])
const CONTENT_PATH = /^\/restapi\/v1\.0\/account\/(?:[\w~-]+\/)+content\/[\w.~-]+$/

/**
 * The address to dial, without query and fragment; null for one that must not get a token. A record is text from outside, so only the
 * provider's own origin counts, or the host of RingCentral that has its media, and there only an attachment.
 */
export function ownAddress(uri: string | null, serverAddress: string): URL | null {
  const url = URL.parse(uri ?? '')
  const { origin } = new URL(serverAddress)
  if (url === null || url.username !== '' || url.password !== '' || !CONTENT_PATH.test(url.pathname)) return null
  if (url.origin !== origin && url.origin !== MEDIA_OF.get(origin)) return null
  return new URL(url.pathname, url.origin)
}
