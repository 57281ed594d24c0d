import type { Gateway } from '../messages/gateway.ts'
import { readTenant } from './tenants.ts'

/** A client this many events behind is disconnected. */
const MAX_WAITING_EVENTS = 10_000
/** An empty line at this interval keeps the connection alive, and detects a client that is gone. */
const HEARTBEAT_MS = 30_000

/** Streams the events of a tenant, or of all. Errors: `tenantNotFound`. */
export async function streamEvents(gateway: Gateway, tenantId: string | undefined): Promise<Response> {
  if (tenantId !== undefined) await readTenant(gateway, tenantId)
  return new Response(eventStream(gateway, tenantId ?? null), { headers: { 'content-type': 'application/x-ndjson' } })
}

/**
 * Streams the events of a tenant, or of all, from now on, one JSON line each. The first line is `{"type":"ready","cursor":…}`.
 * Earlier events are not sent.
 */
export function eventStream(gateway: Gateway, tenantId: string | null): ReadableStream<Uint8Array> {
  let end: () => void = () => undefined
  const start = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const write = (line: string): void => {
      if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(new TextEncoder().encode(`${line}\n`))
      end()
      controller.close()
    }
    const unsubscribe = gateway.hub.subscribe((event) => {
      if (tenantId === null || event.tenantId === tenantId) write(JSON.stringify(event))
    })
    const cancelHeartbeat = startHeartbeat(gateway, () => write(''))
    end = () => {
      unsubscribe()
      cancelHeartbeat()
    }
    const { epoch, seq } = await gateway.hub.ready()
    write(JSON.stringify({ type: 'ready', cursor: gateway.cursors.encode(epoch, { seq, returned: 0 }) }))
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
