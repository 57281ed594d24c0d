import { chmodSync, existsSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'

export interface OperatorSocket {
  stop(): Promise<void>
}

/** Answers the operator's requests. */
export interface LocalApp {
  handle(request: Request): Promise<Response>
}

/**
 * Serves the operator's requests on a Unix socket that only the server's user can open. Each request calls `load`, which resolves when the
 * server is ready.
 */
export function serveOperator(load: () => Promise<LocalApp>, path: string): OperatorSocket {
  let server = open(load, path)
  const timer = setInterval(() => {
    // An operator who has mistakenly deleted the database (`rm sgw.db*`) needs the commands more than ever.
    if (!existsSync(path) && existsSync(dirname(path))) server = reopen(server, () => open(load, path))
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

/** The old server answers the requests that it has accepted. */
function reopen(old: Bun.Server<undefined>, openNew: () => Bun.Server<undefined>): Bun.Server<undefined> {
  void old.stop()
  return openNew()
}

function open(load: () => Promise<LocalApp>, path: string): Bun.Server<undefined> {
  rmSync(path, { force: true })
  const server = Bun.serve({
    unix: path,
    development: false,
    ...NEVER_IDLE,
    fetch: async (request) => (await load()).handle(request),
  })
  chmodSync(path, 0o600)
  return server
}

/**
 * Without this option Bun closes a connection after ten silent seconds, but a command may wait longer for a message, and
 * a stream for its next event. Bun's types lack it for Unix sockets, and `timeout(request, 0)` has no effect there.
 */
const NEVER_IDLE: object = { idleTimeout: 0 }
