import { createLocalServer } from '../../src/server/app.ts'
import { socketPath } from '../../src/db/data-folder.ts'
import type { Gateway } from '../../src/messages/gateway.ts'
import { type OperatorSocket, serveOperator } from '../../src/operator/socket.ts'
import type { World } from './world.ts'

/** Sends a request of the operator on this machine, as `sgw` does without a server. */
export async function operate<T = Record<string, unknown>>(
  world: Pick<World, 'gateway'>,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: T }> {
  const text = body === undefined ? null : JSON.stringify(body)
  const length = text === null ? {} : { 'content-length': String(Buffer.byteLength(text)) }
  const response = await localServerOf(world).handle(
    new Request(`http://localhost${path}`, { method, headers: { ...headers, ...length }, body: text }),
  )
  return { status: response.status, body: (await response.json()) as T }
}

/** Opens the operator's socket of a world, as the server does. */
export function openOperatorSocket(world: Pick<World, 'gateway'>): OperatorSocket {
  const app = localServerOf(world)
  return serveOperator(async () => app, socketPath(world.gateway.config.database.path ?? ''))
}

/** As in the server, one for each gateway: creating one takes ten times as long as a request. */
const localServers = new WeakMap<Gateway, ReturnType<typeof createLocalServer>>()

function localServerOf({ gateway }: Pick<World, 'gateway'>): ReturnType<typeof createLocalServer> {
  const app = localServers.get(gateway) ?? createLocalServer(gateway)
  localServers.set(gateway, app)
  return app
}

export interface SignedIn {
  sessionId: string
  token: string
  expiresAt: string
}

/** The login of a new link of `sgw console`. */
export async function newLogin(world: World): Promise<string> {
  const { body } = await operate<{ url: string }>(world, 'POST', '/v1/operator/links')
  return body.url.split('#login=')[1] ?? ''
}

/** Signs an operator in with a link. */
export async function signIn(world: World): Promise<SignedIn> {
  const login = await newLogin(world)
  const { status, body } = await world.json<SignedIn>('POST', '/v1/operator/session', { key: null, body: { login } })
  if (status !== 200) throw new Error(`Signing in answered ${status}: ${JSON.stringify(body)}`)
  return body
}
