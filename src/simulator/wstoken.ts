import type { ApiCall } from './api-call.ts'
import { json, type Reply } from './http.ts'

/** `POST /restapi/oauth/wstoken` (RingCentral API reference, "WebSocket Token"). */
export function issueSocketTicket({ world: { sockets, settings }, session }: ApiCall): Reply {
  const { ticketSeconds } = settings
  return json(200, {
    uri: sockets.uri,
    ws_access_token: sockets.tickets.issue(session, ticketSeconds),
    expires_in: ticketSeconds,
  })
}
