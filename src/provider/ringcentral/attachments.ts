import { MAX_ATTACHMENT_BYTES } from '../../core/limits.ts'
import type { Attachment, AttachmentContent, ProviderFailure, ProviderResult } from '../provider.ts'
import { mediaTypeOf } from './attachment-records.ts'
import type { Downloading } from './download.ts'
import { ownFailure } from './errors.ts'
import type { Requester } from './request.ts'

/** `GET …/message-store/{messageId}/content/{attachmentId}`, at the address that the record names. */
export async function readAttachment(
  requester: Requester,
  accessToken: string,
  { uri, size }: Attachment,
): Promise<ProviderResult<AttachmentContent>> {
  const url = ownAddress(uri, requester.address)
  if (url === null) return { ok: false, failure: NOT_OURS }
  const answered = await requester.download(url, accessToken, MAX_ATTACHMENT_BYTES)
  if (!answered.ok) return answered
  const { status, header, bytes, ended } = answered.value
  if (status !== 200 || isMissing(answered.value, size)) {
    await bytes.cancel()
    return { ok: false, failure: { ...NO_BYTES, status } }
  }
  // A type from the record alone would be a guess about bytes that a stranger chose.
  const contentType = mediaTypeOf(header('content-type')) ?? 'application/octet-stream'
  return { ok: true, value: { contentType, bytes, ended } }
}

/** An empty answer is a file only if the record says so. `size`: from the record. */
const isMissing = ({ isEmpty, header }: Downloading, size: number | null): boolean =>
  isEmpty && (size === null ? header('content-length') !== '0' : size > 0)

const NO_BYTES: ProviderFailure = ownFailure('ambiguous', 'The answer does not have the bytes of the attachment')

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
 * The address to dial, without query and fragment; null if it must not get a token. A record is text from outside, so only the provider's own
 * origin counts, or the host of RingCentral that has its media, and there only an attachment.
 */
export function ownAddress(uri: string | null, serverAddress: string): URL | null {
  const url = URL.parse(uri ?? '')
  const { origin } = new URL(serverAddress)
  if (url === null || url.username !== '' || url.password !== '' || !CONTENT_PATH.test(url.pathname)) return null
  if (url.origin !== origin && url.origin !== MEDIA_OF.get(origin)) return null
  return new URL(url.pathname, url.origin)
}
