import { errorText } from '../../core/errors.ts'
import { jsonAnswer } from '../../core/json-answer.ts'
import type { Config } from '../../core/config.ts'
import { listenError } from '../../api/http/listener.ts'
import { pathOf } from '../../core/request-path.ts'

export interface StandbyListener {
  /** What `/ready` says. */
  state: 'standby' | 'starting'
  stop(): Promise<void>
}

const LOOPBACK = '127.0.0.1'
const RETRY_SECONDS = 1

/**
 * Listens on behalf of a standby: on the port of the gateway, and on ADMIN_PORT. `/health` is 200 and everything else is 503, so that a proxy
 * uses the other gateway. Errors: `StartError`.
 */
export function listenAsStandby({ host, port, adminPort }: Config): StandbyListener {
  const listener: StandbyListener = {
    state: 'standby',
    stop: async () => void (await Promise.all(servers.map((server) => server.stop(true)))),
  }
  const answer = (request: Request): Response => answerOf(request, listener.state)
  const servers = [open(host, port, answer)]
  try {
    if (adminPort !== null) servers.push(open(LOOPBACK, adminPort, answer))
  } catch (error) {
    void listener.stop()
    throw error
  }
  return listener
}

function open(host: string, port: number, answer: (request: Request) => Response): Bun.Server<undefined> {
  try {
    return Bun.serve({ hostname: host, port, reusePort: false, development: false, fetch: answer, error: refuse })
  } catch (error) {
    throw listenError({ host, port }, error)
  }
}

function answerOf(request: Request, state: string): Response {
  const path = pathOf(request)
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead && path === '/health') return jsonAnswer({ status: 'ok' })
  if (isRead && path === '/ready') return jsonAnswer({ status: state }, { status: 503 })
  return refuse()
}

/** Tells a client, a proxy or the provider to try again: meanwhile another gateway answers. */
const refuse = (): Response =>
  jsonAnswer({ error: errorText('standby') }, { status: 503, headers: { 'retry-after': String(RETRY_SECONDS) } })
