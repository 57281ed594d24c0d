import { isIP } from 'node:net'
import type { Config } from '../core/config.ts'
import { EXIT, StartError } from '../core/start-error.ts'
import type { Gateway } from '../gateway.ts'
import { watchDescriptors } from './descriptors.ts'
import { IDLE_SECONDS, type Server } from './server.ts'

/** Bun must not share the port: a second process would take half of the requests. The answer ends what looks after the listener. */
export function listen(gateway: Gateway, app: Server): () => void {
  const { config } = gateway
  try {
    app.listen({
      port: config.port,
      hostname: config.host,
      reusePort: false,
      idleTimeout: IDLE_SECONDS,
      websocket: gateway.sockets.handlers,
    })
  } catch (error) {
    throw listenError(config, error)
  }
  const { server } = app
  if (server === null) throw listenError(config, null)
  gateway.sockets.start(server)
  const port = server.port ?? config.port
  if (config.publicUrl === `http://localhost:${config.port}`) config.publicUrl = `http://localhost:${port}`
  gateway.guard.addOwn(config.host, port)
  config.port = port
  return watchDescriptors(server, gateway)
}

function listenError(config: Config, error: unknown): StartError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const where = `${urlHost(config.host)}:${config.port}`
  if (code === 'EADDRINUSE' && isIP(config.host) === 0 && config.host !== 'localhost')
    // Bun says the same of a name that leads nowhere.
    return new StartError(
      EXIT.unavailable,
      `Cannot listen on ${where}: the port is in use, or HOST is no name of this machine`,
    )
  if (code === 'EADDRINUSE')
    return new StartError(
      EXIT.unavailable,
      `Port ${config.port} is in use: stop the other program, or set PORT to a free one`,
    )
  if (code === 'EACCES')
    return new StartError(
      EXIT.unavailable,
      `Port ${config.port} is not allowed for this user: set PORT to 1024 or higher`,
    )
  return new StartError(EXIT.unavailable, `Cannot listen on ${where} (${code || 'unknown error'}): check HOST and PORT`)
}

/** An IPv6 address stands in brackets in a URL. */
export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** Turns of the event loop in which connections that wait at the listener are taken, and their requests read. */
const LAST_TURNS = 5
const LAST_ANSWERS_MS = 1000

/** Who had connected before the signal is answered: closing the listener would reset what it has not taken yet. */
export async function stopListening(app: Server): Promise<void> {
  for (let turn = 0; turn < LAST_TURNS; turn++) await new Promise((resolve) => setImmediate(resolve))
  const stopped = app.server?.stop()
  await Promise.race([stopped, Bun.sleep(LAST_ANSWERS_MS)])
  await app.server?.stop(true)
}
