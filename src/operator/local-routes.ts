import { z } from 'zod'
import { route } from '../api/http/route.ts'
import { NotifyBody } from '../api/sms/schemas.ts'
import { cancelMessages } from './cancel-messages.ts'
import { compact } from './compact.ts'
import { checkAlert } from './doctor/post-test-alert.ts'
import { erase } from './erase.ts'
import { streamEvents } from './events.ts'
import { createExtensionLink } from './extension-link.ts'
import { Finding } from './doctor/finding.ts'
import { LeaseReport, reportOf } from './lease/report.ts'
import { rescue } from './rescue.ts'
import { rotateKeys } from './rotate-keys.ts'
import {
  CancelAnswer,
  CancelBody,
  EraseBody,
  ExtensionLinkBody,
  KeysBody,
  LinkAnswer,
  NotifyAsQuery,
  SendMessageBody,
  SenderQuery,
  TenantQuery,
  UnblockBody,
} from './schemas.ts'
import { findSender, sendMessage, sendNotice } from './send-message.ts'
import { createLink, revokeSessions } from './session.ts'
import { localSimulatorRoutes } from './simulator-routes.ts'
import { giveLease, stopServer } from './stop.ts'
import { unblock } from './unblock.ts'

const common = { auth: 'operator', tag: 'Operator' } as const

/** Endpoints that only the operator on this machine can use, over the Unix socket or without a server. */
export const localRoutes = [
  route({
    ...common,
    operationId: 'createOperatorLink',
    method: 'POST',
    path: '/v1/operator/links',
    summary: 'A link that signs an operator in once',
    secret: true,
    status: 201,
    response: LinkAnswer,
    run: ({ gateway }) => createLink(gateway),
  }),
  route({
    ...common,
    auth: 'app',
    operationId: 'createExtensionLink',
    method: 'POST',
    // Not below /v1/operator/, where requests act as no app.
    path: '/v1/rc/links',
    summary: 'A link that connects an extension, with the address of this server',
    body: ExtensionLinkBody,
    secret: true,
    response: z.object({ url: z.string() }),
    run: ({ gateway, caller, body }) => createExtensionLink(gateway, caller, body.kind),
  }),
  route({
    ...common,
    operationId: 'revokeOperatorSessions',
    method: 'DELETE',
    path: '/v1/operator/sessions',
    summary: 'End all sessions and void all links',
    response: z.object({ revoked: z.int() }),
    run: ({ gateway }) => revokeSessions(gateway),
  }),
  route({
    ...common,
    operationId: 'testAlert',
    method: 'POST',
    path: '/v1/operator/alerts/test',
    summary: 'Post a test to ALERT_URL',
    response: Finding,
    run: ({ gateway }) => checkAlert(gateway),
  }),
  route({
    ...common,
    operationId: 'getEnvironment',
    method: 'GET',
    path: '/v1/operator/environment',
    summary: 'A SHA-256 of the value of each variable that this server was started with',
    response: z.object({ variables: z.record(z.string(), z.string()) }),
    run: ({ gateway }) => ({ variables: gateway.config.variables }),
  }),
  route({
    ...common,
    operationId: 'rotateEncryptionKeys',
    method: 'POST',
    path: '/v1/operator/keys/rotate',
    summary: 'Encrypt every stored secret again with the newest key',
    body: KeysBody,
    response: z.object({ resealed: z.int() }),
    run: ({ gateway, body }) => rotateKeys(gateway, body),
  }),
  route({
    ...common,
    operationId: 'unblockAddress',
    method: 'POST',
    path: '/v1/operator/unblock',
    summary: 'Unblock an IP address that failed to authenticate too many times',
    body: UnblockBody,
    response: z.object({ address: z.string(), wasBlocked: z.boolean() }),
    run: ({ gateway, body }) => unblock(gateway, body),
  }),
  route({
    ...common,
    operationId: 'compactDatabase',
    method: 'POST',
    path: '/v1/operator/compact',
    summary: 'Rewrite the database file without its free pages',
    response: z.object({ bytesBefore: z.int(), bytesAfter: z.int() }),
    run: ({ gateway }) => compact(gateway),
  }),
  route({
    ...common,
    operationId: 'rescueDatabase',
    method: 'POST',
    path: '/v1/operator/rescue',
    summary: 'Copy a database whose file was deleted or replaced under the server',
    body: z.object({ file: z.string() }),
    response: z.object({ copied: z.boolean() }),
    run: ({ gateway, body }) => rescue(gateway, body),
  }),
  route({
    ...common,
    operationId: 'eraseNumber',
    method: 'POST',
    path: '/v1/operator/erase',
    summary: "Delete every message to and from a person's number",
    body: EraseBody,
    response: z.object({ messages: z.int(), attempts: z.int(), deliveries: z.int(), waiting: z.int() }),
    run: ({ gateway, body }) => erase(gateway, body),
  }),
  route({
    ...common,
    operationId: 'cancelMessages',
    method: 'POST',
    path: '/v1/operator/messages/cancel',
    summary: 'Cancel the named messages, or those of a tenant',
    body: CancelBody,
    mayWait: true,
    response: CancelAnswer,
    run: ({ gateway, body }) => cancelMessages(gateway, body),
  }),
  route({
    ...common,
    operationId: 'sendAsOperator',
    method: 'POST',
    path: '/v1/operator/send',
    summary: 'Send an SMS for the app that owns the number',
    body: SendMessageBody,
    mayWait: true,
    response: z.unknown(),
    run: ({ gateway, body }) => sendMessage(gateway, body),
  }),
  route({
    ...common,
    operationId: 'findSender',
    method: 'GET',
    path: '/v1/operator/sender',
    summary: 'The app that sends from a number',
    query: SenderQuery,
    response: z.object({ appId: z.string(), tenantId: z.string() }),
    run: ({ gateway, query }) => findSender(gateway, query.from, query.appId),
  }),
  route({
    ...common,
    operationId: 'notifyAsOperator',
    method: 'POST',
    path: '/v1/operator/notify',
    summary: "Send a text made from a tool's JSON, for the app that owns the number",
    query: NotifyAsQuery,
    body: NotifyBody,
    priority: ['missingSendField', 'badPhoneNumber', 'badTo', 'badText'],
    response: z.unknown(),
    run: ({ gateway, query, bytes, body }) => sendNotice(gateway, query, { bytes, json: body }),
  }),
  ...localSimulatorRoutes,
  route({
    ...common,
    operationId: 'getLease',
    method: 'GET',
    path: '/v1/operator/lease',
    summary: 'Which gateway holds the lease',
    response: LeaseReport,
    run: ({ gateway }) => reportOf(gateway),
  }),
  route({
    ...common,
    operationId: 'giveLease',
    method: 'POST',
    path: '/v1/operator/lease/give',
    summary: 'Stop the server so that a standby takes over at once',
    response: z.object({ pid: z.int() }),
    run: ({ gateway }) => giveLease(gateway),
  }),
  route({
    ...common,
    operationId: 'stopServer',
    method: 'POST',
    path: '/v1/operator/stop',
    summary: 'Stop the server',
    response: z.object({ pid: z.int() }),
    run: () => stopServer(),
  }),
  route({
    ...common,
    operationId: 'followDevelopmentEvents',
    method: 'GET',
    path: '/v1/operator/events',
    summary: 'The events of a tenant or of all from now on, one JSON line each',
    query: TenantQuery,
    response: 'empty',
    run: ({ gateway, query }) => streamEvents(gateway, query.tenantId),
  }),
]
