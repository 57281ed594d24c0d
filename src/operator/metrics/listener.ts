import type { Clock } from '../../core/clock.ts'
import { jsonAnswer } from '../../core/json-answer.ts'
import { pathOf } from '../../core/request-path.ts'
import { isHomeHost } from '../../auth/home-host.ts'
import { readyStateOf } from '../../api/health/ready.ts'
import { errorText } from '../../core/errors.ts'
import { errorName } from '../../core/log.ts'
import { EXIT, StartError } from '../../core/start-error.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { createGauges } from './gauges.ts'
import type { Metrics } from './metrics.ts'

const LOOPBACK = '127.0.0.1'

export interface AdminListener {
  /** Base address without a trailing slash. */
  url: string
  stop(): Promise<void>
}

/** Serves `/metrics` and `/ready` on the loopback interface. Errors: `StartError` when the port is in use. */
export function startAdmin(gateway: Gateway, metrics: Metrics, port: number): AdminListener {
  metrics.follow(gateway.hub)
  const readGauges = createGauges(gateway, metrics.registry)
  const fetch = async (request: Request): Promise<Response> => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const path = isRead ? pathOf(request) : ''
    if (path === '/ready') return ready(gateway)
    if (path !== '/metrics') return jsonAnswer({ error: errorText('notFound') }, { status: 404 })
    // A web page in a browser on this machine could make its own name resolve to this machine.
    if (!isHomeHost(request.headers.get('host') ?? LOOPBACK))
      return jsonAnswer({ error: errorText('forbidden') }, { status: 403 })
    await readGauges()
    return new Response(await metrics.registry.metrics(), { headers: { 'content-type': metrics.registry.contentType } })
  }
  const error = (problem: unknown): Response => jsonAnswer({ error: errorName(problem) }, { status: 500 })
  const server = startListening(port, fetch, error)
  const unwatch = watchEventLoop(gateway.clock, metrics.eventLoopLag)
  return {
    url: `http://${LOOPBACK}:${server.port}`,
    stop: async () => {
      unwatch()
      await server.stop(true)
    },
  }
}

function startListening(
  port: number,
  fetch: (request: Request) => Promise<Response>,
  error: (problem: unknown) => Response,
): Bun.Server<undefined> {
  try {
    return Bun.serve({ hostname: LOOPBACK, port, reusePort: false, development: false, fetch, error })
  } catch {
    throw new StartError(EXIT.unavailable, `Port ${port} of the admin listener is in use: set ADMIN_PORT to a free one`)
  }
}

const LAG_EVERY_MS = 100

/** Reports every 100 ms how late a timer fired; the returned function stops this. */
function watchEventLoop(clock: Clock, report: (lagSeconds: number) => void): () => void {
  let cancel: () => void = () => undefined
  const plan = (): void => {
    const dueAt = clock.monotonic() + LAG_EVERY_MS
    cancel = clock.after(LAG_EVERY_MS, () => {
      report(Math.max(0, clock.monotonic() - dueAt) / 1000)
      plan()
    })
  }
  plan()
  return () => cancel()
}

async function ready(gateway: Gateway): Promise<Response> {
  const status = await readyStateOf(gateway)
  return jsonAnswer({ status }, { status: status === 'ready' ? 200 : 503 })
}
