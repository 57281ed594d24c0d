import { jsonAnswer } from '../../core/json-answer.ts'
import { z } from 'zod'
import { SocketAuth, SocketMessage } from '../fields/events.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { type RouteInput, route } from '../http/route.ts'
import { issueWsToken } from './issue-token.ts'

const tag = 'WebSocket'
const WebSocketToken = z
  .object({
    token: z.string().meta({ example: 'wst_…' }),
    expiresIn: z.int().meta({ description: 'Seconds', example: 60 }),
  })
  .meta({ id: 'WebSocketToken' })

export const wsRoutes = [
  route({
    operationId: 'createWebSocketToken',
    method: 'POST',
    path: '/v1/ws/token',
    auth: 'app',
    tag,
    summary: 'A token that opens one WebSocket within 60 seconds',
    secret: true,
    response: WebSocketToken,
    run: ({ gateway, caller }) => issueWsToken(gateway, caller),
  }),
  route({
    operationId: 'openWebSocket',
    internal: true,
    method: 'GET',
    path: '/ws',
    auth: 'none',
    tag,
    summary: 'The WebSocket',
    description:
      'Send `{"type":"auth","apiKey":…}` or `{"type":"auth","token":…}` first and within 5 seconds; `{"type":"auth_ok"}` answers. Then `sms_status` and `sms_delivery` events of your app and `sms_inbound` and `opt_out` events of your tenant follow, and a `ping` every 30 seconds. `{"type":"cursor","cursor":…}` comes after `auth_ok` and at most once a second while events come: `GET /v1/events` continues after it.',
    status: 101,
    response: SocketMessage,
    sends: SocketAuth,
    errors: {
      426: ['Upgrade required'],
      429: ['Too many requests'],
    },
    run: ({ gateway, context, upgrade }) => openSocket(gateway, context, upgrade),
  }),
]

function openSocket(
  gateway: Gateway,
  context: RouteInput['context'],
  upgrade: RouteInput['upgrade'],
): Response | undefined {
  if (upgrade(gateway.sockets.newData(context.address))) return undefined
  return jsonAnswer({ error: 'Upgrade required' }, { status: 426, headers: { upgrade: 'websocket' } })
}
