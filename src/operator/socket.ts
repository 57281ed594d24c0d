import { chmodSync, existsSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { ApiError } from '../core/errors.ts'
import type { OperatorContext } from './context.ts'

export interface OperatorSocket {
  stop(): Promise<void>
}

/**
 * Serves the operator's commands on a Unix socket that only the server's user can open. `POST /commands/<name>` runs a
 * command; `GET /events` streams the development tenant's events as JSON lines. Their modules are loaded by the first
 * request. Requests wait until `prepared` resolves, when the development app exists and the server works.
 */
export function serveOperator(prepared: Promise<OperatorContext>, path: string): OperatorSocket {
  let server = open(prepared, path)
  const timer = setInterval(() => {
    // Whoever has deleted the database by mistake (`rm sgw.db*`) needs the commands more than ever.
    if (!existsSync(path) && existsSync(dirname(path))) server = reopen(server, () => open(prepared, path))
  }, REOPEN_EVERY_MS)
  return {
    stop: async () => {
      clearInterval(timer)
      await server.stop(true)
      rmSync(path, { force: true })
    },
  }
}

const REOPEN_EVERY_MS = 1000

/** The old server answers what it has accepted. */
function reopen(old: Bun.Server<undefined>, openNew: () => Bun.Server<undefined>): Bun.Server<undefined> {
  void old.stop()
  return openNew()
}

function open(prepared: Promise<OperatorContext>, path: string): Bun.Server<undefined> {
  rmSync(path, { force: true })
  const server = Bun.serve({
    unix: path,
    development: false,
    ...NEVER_IDLE,
    fetch: async (request) => answer(await prepared, request),
  })
  chmodSync(path, 0o600)
  return server
}

/**
 * Without this option Bun closes a connection after ten silent seconds, but a command may wait longer for a message, and
 * a stream for its next event. Bun's types lack it for Unix sockets, and `timeout(request, 0)` has no effect there.
 */
const NEVER_IDLE: object = { idleTimeout: 0 }

async function answer(context: OperatorContext, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (request.method === 'GET' && pathname === '/events') return events(context)
  const name = /^\/commands\/([a-z-]+)$/.exec(pathname)?.[1]
  if (request.method !== 'POST' || name === undefined) return refusal(404, 'Not found')
  const input: unknown = await request.json().catch(() => null)
  const { runCommand } = await import('./run-command.ts')
  return Response.json(await runCommand(context, name, input, context.gateway.log))
}

async function events({ gateway }: OperatorContext): Promise<Response> {
  const { developmentTenant, eventStream } = await import('./events.ts')
  try {
    const stream = eventStream(gateway, await developmentTenant(gateway))
    return new Response(stream, { headers: { 'content-type': 'application/x-ndjson' } })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return refusal(409, error.message)
  }
}

const refusal = (status: number, error: string): Response => Response.json({ ok: false, error }, { status })
