import { ApiError } from '../core/errors.ts'
import { DEVELOPMENT_KEY, readKept } from '../data-folder.ts'
import type { Gateway } from '../gateway.ts'

/** A reader that is this many events behind is cut off. */
const MAX_WAITING_EVENTS = 10_000
/** An empty line now and then keeps the connection alive, and shows when nobody reads any more. */
const HEARTBEAT_MS = 30_000

/** The tenant that a development server makes for itself. Errors: `unavailable` when there is none. */
export async function developmentTenant(gateway: Gateway): Promise<string> {
  const key = readKept(gateway.config, DEVELOPMENT_KEY)
  const holder = key === null ? null : await gateway.keys.find(key)
  if (holder === null)
    throw new ApiError(
      'unavailable',
      'This server has no development tenant: one is made when it starts with the built-in simulator (no RC_CLIENT_ID)',
    )
  return holder.tenantId
}

/**
 * A tenant's events from now on, one JSON line each; the first line is `{"type":"ready"}`. Nothing is queued for
 * readers that are away.
 */
export function eventStream(gateway: Gateway, tenantId: string): ReadableStream<Uint8Array> {
  let end: () => void = () => undefined
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const write = (line: string): void => {
      if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(new TextEncoder().encode(`${line}\n`))
      end()
      controller.close()
    }
    const unsubscribe = gateway.hub.subscribe((event) => {
      if (event.tenantId === tenantId) write(JSON.stringify(event))
    })
    const cancelBeat = beat(gateway, () => write(''))
    end = () => {
      unsubscribe()
      cancelBeat()
    }
    write('{"type":"ready"}')
  }
  return new ReadableStream(
    { start, cancel: () => end() },
    new CountQueuingStrategy({ highWaterMark: MAX_WAITING_EVENTS }),
  )
}

function beat(gateway: Gateway, write: () => void): () => void {
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
