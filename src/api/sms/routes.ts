import { jsonAnswer } from '../../core/json-answer.ts'
import { z } from 'zod'
import { Done } from '../http/done.ts'
import { listAnswer } from '../http/list-answer.ts'
import { route } from '../http/route.ts'
import type { SendResult } from './accept-message.ts'
import { AttachmentList, AttachmentParams } from './attachment-schemas.ts'
import { getAttachment, listAttachments } from './attachments.ts'
import { cancel } from './cancel.ts'
import { getStatus } from './get-status.ts'
import { FailureGroups, FailuresQuery, listFailures } from './list-failures.ts'
import { listMessages } from './list-messages.ts'
import { MessageList, MessageState } from './message.ts'
import { MessagesQuery } from './messages-query.ts'
import { type NotifyResult, notify } from './notify.ts'
import {
  Accepted,
  IdempotencyKey,
  MessageParams,
  Notified,
  NotifyBody,
  NotifyKey,
  NotifyQuery,
  Preview,
  PreviewBody,
  SendBody,
  SendMediaBody,
} from './schemas.ts'
import { send } from './send.ts'
import { Timeline } from './timeline-schema.ts'
import { readTimeline } from './timeline.ts'
import { errorTexts } from '../../core/errors.ts'
import { textSize } from '../../client/segments.ts'

const common = { auth: 'app', tag: 'SMS' } as const

export const smsRoutes = [
  route({
    ...common,
    operationId: 'sendSms',
    method: 'POST',
    path: '/v1/sms/send',
    summary: 'Send an SMS',
    description:
      'Accepted messages are on disk when the 202 is sent, and delivered asynchronously. With an `Idempotency-Key` header a repeated request is answered as the first was, with `Idempotent-Replayed: true`. With `sendAt` it stays `queued` until then.',
    headers: z.object({ 'Idempotency-Key': IdempotencyKey.optional() }),
    body: SendBody,
    bodyWith: ['mediaIds', SendMediaBody],
    priority: ['missingSendField', 'badPhoneNumber', 'badBodyLength', 'badMediaBody', 'badMediaIds', 'badUserId'],
    status: 202,
    answerHeaders: ['Idempotent-Replayed'],
    response: Accepted,
    errors: {
      400: errorTexts(
        'missingSendField',
        'badPhoneNumber',
        'badBodyLength',
        'badUserId',
        'badIdempotencyKey',
        'badSendAt',
        'badMediaBody',
        'badMediaIds',
        'unknownMedia',
        'badJson',
      ),
      409: errorTexts('idempotencyConflict'),
    },
    run: ({ gateway, caller, body, request }) =>
      send(gateway, caller, body, request.headers.get('idempotency-key')).then(accepted),
  }),
  route({
    ...common,
    operationId: 'notifySms',
    method: 'POST',
    path: '/v1/sms/notify',
    summary: 'Send a text made from the JSON that a tool posts',
    description:
      'For alerts of Grafana, Alertmanager, Uptime Kuma and others, which post a JSON of their own. Each recipient gets a message of its own. Numbers appear as they were posted, objects and arrays as JSON, absent values and null as nothing; NUL and half a surrogate pair become U+FFFD. The text is trimmed and cut to 1600 UTF-16 units.',
    headers: z.object({ 'Idempotency-Key': NotifyKey.optional() }),
    query: NotifyQuery,
    body: NotifyBody,
    priority: ['missingSendField', 'badPhoneNumber', 'badTo', 'badText'],
    status: 202,
    answerHeaders: ['Idempotent-Replayed'],
    response: Notified,
    errors: {
      400: errorTexts(
        'missingSendField',
        'badPhoneNumber',
        'badTo',
        'badText',
        'badNotifyKey',
        'badBodyLength',
        'badJson',
      ),
      409: errorTexts('idempotencyConflict'),
    },
    run: ({ gateway, caller, query, bytes, body, request }) =>
      notify(gateway, caller, query, { bytes, json: body }, request.headers.get('idempotency-key')).then(accepted),
  }),
  route({
    ...common,
    operationId: 'previewSms',
    method: 'POST',
    path: '/v1/sms/preview',
    summary: 'How many SMS a text takes',
    description: 'Nothing is sent or stored.',
    body: PreviewBody,
    response: Preview,
    errors: { 400: errorTexts('badBodyLength', 'badJson') },
    run: ({ body }) => textSize(body.body),
  }),
  route({
    ...common,
    operationId: 'getSmsStatus',
    method: 'GET',
    path: '/v1/sms/status/:messageId',
    summary: 'One message',
    params: MessageParams,
    response: MessageState,
    errors: { 400: errorTexts('badMessageId'), 404: errorTexts('messageNotFound') },
    run: ({ gateway, caller, params }) => getStatus(gateway, caller, params.messageId),
  }),
  route({
    ...common,
    operationId: 'listMessages',
    method: 'GET',
    path: '/v1/sms/messages',
    summary: "The tenant's messages, newest first",
    query: MessagesQuery,
    mayWait: true,
    response: MessageList,
    run: async ({ gateway, caller, query }) =>
      listAnswer('messages', query, await listMessages(gateway, caller, query)),
  }),
  route({
    ...common,
    operationId: 'countFailures',
    method: 'GET',
    path: '/v1/sms/failures',
    summary: 'Why messages failed, the most frequent reason first',
    description:
      'Cancelled messages are one of the reasons. It has all the filters of the list that apply to failed messages.',
    query: FailuresQuery,
    mayWait: true,
    response: FailureGroups,
    run: ({ gateway, caller, query }) => listFailures(gateway, caller, query),
  }),
  route({
    ...common,
    operationId: 'getSmsTimeline',
    method: 'GET',
    path: '/v1/sms/:messageId/timeline',
    summary: 'What became of a message, and why it waits',
    description:
      'Every step of one message, its attempts included. `waiting` says why it has not gone out yet, `deliveryStatus` what became of it after `sent`.',
    params: MessageParams,
    mayWait: true,
    response: Timeline,
    errors: { 400: errorTexts('badMessageId'), 404: errorTexts('messageNotFound') },
    run: ({ gateway, caller, params }) => readTimeline(gateway, caller, params.messageId),
  }),
  route({
    ...common,
    operationId: 'listAttachments',
    method: 'GET',
    path: '/v1/sms/:messageId/attachments',
    summary: 'Pictures and other files of a message',
    description:
      'For an inbound message, as the provider announced it; for an outbound one, as you uploaded it: `attachmentId` is then the `mediaId`.',
    params: MessageParams,
    response: AttachmentList,
    errors: { 400: errorTexts('badMessageId'), 404: errorTexts('messageNotFound') },
    run: ({ gateway, caller, params }) => listAttachments(gateway, caller, params.messageId),
  }),
  route({
    ...common,
    operationId: 'getAttachment',
    method: 'GET',
    path: '/v1/sms/:messageId/attachments/:attachmentId',
    summary: 'One attachment',
    description:
      'Its bytes: from the gateway if it still keeps the file, otherwise streamed from the provider, at most 5 MiB within a minute. A type that a browser might run is `application/octet-stream`.',
    params: AttachmentParams,
    mayWait: true,
    response: 'file',
    errors: {
      400: errorTexts('badMessageId'),
      404: errorTexts('messageNotFound', 'attachmentNotFound'),
      502: errorTexts('noAttachment'),
    },
    run: ({ gateway, caller, params }) => getAttachment(gateway, caller, params),
  }),
  route({
    ...common,
    operationId: 'cancelSms',
    method: 'DELETE',
    path: '/v1/sms/:messageId',
    summary: 'Cancel a message that is still queued',
    params: MessageParams,
    response: Done,
    errors: {
      400: errorTexts('badMessageId'),
      404: errorTexts('messageNotFound'),
      409: ['Message is already <status>'],
    },
    run: ({ gateway, caller, params }) => cancel(gateway, caller, params.messageId),
  }),
]

/** The answer to an accepted request. The answer to a repeated one says that it is repeated. */
function accepted({ replayed, ...answer }: SendResult | NotifyResult): Accepted | Notified | Response {
  return replayed ? jsonAnswer(answer, { status: 202, headers: { 'idempotent-replayed': 'true' } }) : answer
}
