import { chmodSync, rmSync } from 'node:fs'
import type { Gateway } from '../gateway.ts'
import { runCommand } from './run-command.ts'

export interface OperatorSocket {
  stop(): Promise<void>
}

/** Serves the operator's commands on a Unix socket that only the server's user can open. */
export function serveOperator(gateway: Gateway, path: string): OperatorSocket {
  rmSync(path, { force: true })
  const server = Bun.serve({
    unix: path,
    development: false,
    fetch: async (request) => {
      const name = /\/commands\/([a-z-]+)$/.exec(request.url)?.[1]
      if (request.method !== 'POST' || name === undefined) return Response.json({ ok: false, error: 'Not found' }, { status: 404 })
      return Response.json(await runCommand(gateway, name, await request.json(), gateway.log))
    },
  })
  chmodSync(path, 0o600)
  return {
    stop: async () => {
      await server.stop(true)
      rmSync(path, { force: true })
    },
  }
}
