import type { ApiCall } from './api-call.ts'
import { apiError, notFound } from './errors.ts'
import { header, type Call, type Reply } from './http.ts'
import { findMessage } from './message-store.ts'

/** `GET …/message-store/{messageId}/content/{attachmentId}` (RingCentral API reference, "Get message attachment"): its bytes. */
export function getContent(api: ApiCall): Reply {
  const [messageId, attachmentId] = api.ids
  const message = findMessage(api, messageId)
  if (message === null) return notFound('messageId')
  if (attachmentId === messageId && message.text !== null)
    return ranged(api.call, 'text/plain;charset=utf-8', Buffer.from(message.text))
  const attachment = message.attachments.find(({ id }) => String(id) === attachmentId)
  if (!attachment?.bytes) return notFound('attachmentId')
  return ranged(api.call, attachment.contentType, attachment.bytes)
}

const RANGE = /^bytes=(\d*)-(\d*)$/

/** Media are given in parts on request (RingCentral developer guide, "Downloading partial content"; RFC 9110, section 14). */
export function ranged(call: Call, contentType: string, bytes: Uint8Array): Reply {
  const whole: Reply = { status: 200, headers: { 'Content-Type': contentType }, body: '', bytes }
  const [, first = '', last = ''] = RANGE.exec(header(call, 'range')) ?? []
  if (first === '' && last === '') return whole
  const size = bytes.length
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(size - 1, Number(last))
  if (start > end) return unsatisfiable(size)
  const headers = { ...whole.headers, 'Content-Range': `bytes ${start}-${end}/${size}` }
  return { status: 206, headers, body: '', bytes: bytes.subarray(start, end + 1) }
}

const unsatisfiable = (size: number): Reply =>
  apiError(416, 'CMN-107', 'Requested Range Not Satisfiable', { headers: { 'Content-Range': `bytes */${size}` } })
