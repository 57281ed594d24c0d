import { internalError, respond } from './answer.ts'
import { asObject, type Call, type Reply } from './http.ts'
import type { OpenSocket } from './sockets.ts'
import { heartbeat, requestAnswer } from './socket-frames.ts'
import type { SocketConnection } from './socket-connection.ts'
import type { SocketSession } from './socket-session.ts'
import type { AnswerWire } from './wire.ts'
import type { World } from './world.ts'

/** Answers a frame of the client: its heartbeats, and its requests as the REST API does. Ignores everything else. */
export async function answerFrame(world: World, { session, connection }: OpenSocket, text: string): Promise<void> {
  const [meta, body] = partsOf(text)
  if (meta?.['type'] === 'Heartbeat') return connection.send(heartbeat(meta['messageId']))
  if (meta?.['type'] !== 'ClientRequest') return
  const call = callOf(session, meta, body)
  const wire = new SocketWire(connection, meta['messageId'], subscribes(call))
  await respond(world, call, wire).catch((error: unknown) => wire.send(internalError(error)))
}

function partsOf(text: string): [meta: Record<string, unknown> | null, body?: unknown] {
  try {
    const parts: unknown = JSON.parse(text)
    return Array.isArray(parts) ? [asObject(parts[0]), parts[1]] : [null]
  } catch {
    return [null]
  }
}

/** A final slash is allowed: the guide's own example has one. */
function callOf(session: SocketSession, meta: Record<string, unknown>, body: unknown): Call {
  const [path = '', query] = String(meta['path']).split(/\?(.*)/s)
  const search = new URLSearchParams(query)
  for (const [name, values] of Object.entries(asObject(meta['query']) ?? {}))
    for (const value of [values].flat()) search.append(name, String(value))
  return {
    method: String(meta['method']),
    path: path.replace(/\/$/, ''),
    query: search,
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? '' : JSON.stringify(body),
    socket: session,
  }
}

const subscribes = ({ method, path }: Call): boolean => method === 'POST' && path === '/restapi/v1.0/subscription'

/** Answers one request over a socket. Cutting the answer cuts the socket. */
class SocketWire implements AnswerWire {
  sent: Reply | null = null

  constructor(
    private readonly connection: SocketConnection,
    private readonly messageId: unknown,
    private readonly isSubscription: boolean,
  ) {}

  get open(): boolean {
    return this.connection.isOpen
  }

  send(reply: Reply): void {
    this.sent = reply
    const answer = requestAnswer(this.messageId, reply)
    if (this.isSubscription && reply.status < 300) this.connection.sendSubscriptionAnswer(answer)
    else this.connection.send(answer)
  }

  /** A part of an HTTP answer has no place in a frame. */
  raw(): void {}

  cut(how: 'reset' | 'close'): void {
    if (how === 'reset') this.connection.cut()
    else this.connection.close()
  }

  pause(ms: number | undefined): Promise<void> {
    return this.connection.pause(ms)
  }
}
