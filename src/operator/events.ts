import { ApiError } from '../core/errors.ts'
import { DEVELOPMENT_KEY, readSecret } from '../data-folder.ts'
import type { Gateway } from '../gateway.ts'

/** A client that is this many events behind is disconnected. */
const MAX_WAITING_EVENTS = 10_000
/** An empty line at this interval keeps the connection alive, and reveals a client that is gone. */
const HEARTBEAT_MS = 30_000

/** Streams the events of the development tenant. Errors: `unavailable` if there is none. */
export async function developmentEvents(gateway: Gateway): Promise<Response> {
  const stream = eventStream(gateway, await developmentTenant(gateway))
  return new Response(stream, { headers: { 'content-type': 'application/x-ndjson' } })
}

/** The tenant that a development server creates for itself. Errors: `unavailable` if there is none. */
async function developmentTenant(gateway: Gateway): Promise<string> {
  const key = readSecret(gateway.config, DEVELOPMENT_KEY)
  const holder = key === null ? null : await gateway.keys.find(key)
  if (holder === null)
    throw new ApiError(
      'unavailable',
      'This server has no development tenant: a start with the built-in simulator (no RC_CLIENT_ID) makes one',
    )
  return holder.tenantId
}

/**
 * Streams a tenant's events from now on, one JSON line each. The first line is `{"type":"ready"}`. Earlier events are not
 * sent.
 */
export function eventStream(gateway: Gateway, tenantId: string): ReadableStream<Uint8Array> {
  let end: () => void = () => undefined
  const start = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const write = (line: string): void => {
      if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(new TextEncoder().encode(`${line}\n`))
      end()
      controller.close()
    }
    const unsubscribe = gateway.hub.subscribe((event) => {
      if (event.tenantId === tenantId) write(JSON.stringify(event))
    })
    const cancelHeartbeat = startHeartbeat(gateway, () => write(''))
    end = () => {
      unsubscribe()
      cancelHeartbeat()
    }
    await gateway.hub.ready()
    write('{"type":"ready"}')
  }
  return new ReadableStream(
    { start, cancel: () => end() },
    new CountQueuingStrategy({ highWaterMark: MAX_WAITING_EVENTS }),
  )
}

function startHeartbeat(gateway: Gateway, write: () => void): () => void {
  let cancel: () => void = () => undefined
  const plan = (): void => {
    cancel = gateway.clock.after(HEARTBEAT_MS, () => {
      plan()
      write()
    })
  }
  plan()
  return () => cancel()
}
