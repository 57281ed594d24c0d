import { isoTime } from '../core/clock.ts'
import { isJson, type Reply } from './http.ts'
import type { Settings } from './settings.ts'

// The frames of the platform's WebSocket gateway (RingCentral developer guide, "WebSocket notifications", code-samples/websockets): an array
// of what the frame is, and its body.

/** `sequence` counts the connections of the session. */
export interface RecoveryToken {
  token: string
  sequence: number
}

export interface ConnectionOpening {
  openedAt: number
  recovery: RecoveryToken
  /** Null if the client has not asked to recover a session. */
  isRecovered: boolean | null
}

/** The first frame of each connection. The client sends nothing before it. */
export function connectionDetails(settings: Settings, { openedAt, recovery, isRecovered }: ConnectionOpening): string {
  const requestId = crypto.randomUUID()
  const meta = {
    type: 'ConnectionDetails',
    messageId: requestId,
    status: 200,
    wsc: recovery,
    headers: headersOf(requestId),
  }
  return JSON.stringify([
    meta,
    {
      creationTime: isoTime(openedAt),
      maxConnectionsPerSession: 50,
      recoveryBufferSize: settings.recoveryBufferSize,
      recoveryTimeout: settings.recoverySeconds,
      idleTimeout: settings.socketIdleSeconds,
      absoluteTimeout: settings.socketSeconds,
      maxActiveRequests: 10,
      ...(isRecovered === null ? {} : { recoveryState: isRecovered ? 'Successful' : 'Failed' }),
    },
  ])
}

export const notification = (event: { uuid: string }): string =>
  JSON.stringify([
    { type: 'ServerNotification', messageId: event.uuid, status: 200, headers: headersOf(crypto.randomUUID()) },
    event,
  ])

/** The answer to a `ClientRequest`. One without a body has only the first part. */
export function requestAnswer(messageId: unknown, { status, headers, body }: Reply): string {
  const meta = { type: 'ClientRequest', messageId, status, headers: { ...headersOf(crypto.randomUUID()), ...headers } }
  return JSON.stringify(body === '' ? [meta] : [meta, isJson(body) ? JSON.parse(body) : body])
}

export const heartbeat = (messageId: unknown): string => JSON.stringify([{ type: 'Heartbeat', messageId }])

/** Comes before the connection is closed. The status is not documented. */
export const errorFrame = (status: number, errorCode: string, message: string): string =>
  JSON.stringify([
    { type: 'Error', messageId: crypto.randomUUID(), status },
    { errorCode, message },
  ])

/** "Timeouts and error notifications" of the guide. */
export const idleTimeout = (): string => errorFrame(408, 'WSG-902', 'Idle timeout expired')
export const absoluteTimeout = (): string => errorFrame(408, 'WSG-903', 'Absolute timeout expired')

const headersOf = (requestId: string): Record<string, string> => ({ RCRequestId: requestId })
