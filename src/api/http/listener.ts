import { isIP } from 'node:net'
import { setImmediate as nextTick } from 'node:timers/promises'
import { atMost } from '../../core/at-most.ts'
import type { Config } from '../../core/config.ts'
import { EXIT, StartError } from '../../core/start-error.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { watchDescriptors } from './descriptors.ts'
import { IDLE_SECONDS, type Server } from './server.ts'

/** Starts to listen. Does not share the port, because a second process would get half of the requests. The returned function ends the watch of file descriptors. */
export function startListening(gateway: Gateway, app: Server): () => void {
  const { config } = gateway
  const hooks = process.listeners('beforeExit')
  // Elysia would create all routes a second time for modules that load later, and collect garbage. There are no such modules.
  Object.defineProperty(app, 'promisedModules', { value: new Promise(() => undefined) })
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
  // Elysia's hook would stop it at the end of a process that a listener keeps from ending, and keeps a stopped gateway in memory.
  for (const hook of process.listeners('beforeExit')) if (!hooks.includes(hook)) process.off('beforeExit', hook)
  const { server } = app
  if (server === null) throw listenError(config, null)
  gateway.sockets.start(server)
  const port = server.port ?? config.port
  if (config.publicUrl === `http://localhost:${config.port}`) config.publicUrl = `http://localhost:${port}`
  gateway.guard.addOwn(config.host, port)
  config.port = port
  return watchDescriptors(server, gateway)
}

/** Checks whether the port is free, by listening for a moment. Errors: `StartError`. */
export async function refuseTakenPort({ host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  try {
    await Bun.serve({ hostname: host, port, reusePort: false, fetch: () => new Response() }).stop(true)
  } catch (error) {
    throw listenError({ host, port }, error)
  }
}

/** Why the listener cannot be opened, with the fix. */
export function listenError(config: Pick<Config, 'host' | 'port'>, error: unknown): StartError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const where = `${urlHost(config.host)}:${config.port}`
  if (code === 'EADDRINUSE' && isIP(config.host) === 0 && config.host !== 'localhost')
    // Bun reports the same code for a name without an address of this machine.
    return new StartError(
      EXIT.unavailable,
      `Cannot listen on ${where}: the port is in use, or HOST is not a name of this machine`,
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

/** The host as in a URL, where an IPv6 address has brackets. */
export const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** Ticks of the event loop in which pending connections are accepted and their requests read. */
const LAST_TICKS = 5
const LAST_ANSWERS_MS = 1000

/** Answers clients that connected before the signal, then closes the listener, which resets connections that are not accepted yet. */
export async function stopListening(app: Server): Promise<void> {
  for (let tick = 0; tick < LAST_TICKS; tick++) await nextTick()
  await atMost(LAST_ANSWERS_MS, Promise.resolve(app.server?.stop()))
  await app.server?.stop(true)
}
