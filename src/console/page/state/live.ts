import { computed, effect, signal } from '@preact/signals'
import type { ConnectionState, GapEvent, GatewayEvent } from '../../../client/client.ts'
import { client } from './caller.ts'
import { endSession } from './session.ts'

/** An event of the socket, or a gap where events may be missing. */
export type LiveEvent = GatewayEvent | GapEvent

type Listener = (event: LiveEvent) => void

const listeners = new Set<Listener>()

/** Whether events arrive; `retryAt` and `since` are times in milliseconds, or null. */
export const connection = signal<{ online: boolean; retryAt: number | null; since: number | null }>({
  online: true,
  retryAt: null,
  since: null,
})

/** The times of the events of the last minute, for "38 a minute". */
const recent = signal<readonly number[]>([])
export const eventsPerMinute = computed(() => recent.value.length)

/** Calls `listener` with each event, until the returned function is called. */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Follows the events of whoever the console acts as. A change of the app begins anew. */
export function followEvents(): void {
  effect(() => {
    const sgw = client.value
    if (sgw === null) return
    const stop = new AbortController()
    void follow(sgw.events({ signal: stop.signal, onState: noteState }))
    return () => stop.abort()
  })
}

async function follow(events: AsyncIterable<LiveEvent>): Promise<void> {
  try {
    for await (const event of events) publish(event)
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return
    endSession('The session has ended. Sign in again.')
  }
}

function publish(event: LiveEvent): void {
  const now = Date.now()
  recent.value = [...recent.value.filter((at) => at > now - 60_000), now].slice(-1000)
  for (const listener of listeners) listener(event)
}

function noteState({ online, retryAt }: ConnectionState): void {
  const { since } = connection.value
  connection.value = {
    online,
    retryAt: retryAt?.getTime() ?? null,
    since: online ? null : (since ?? Date.now()),
  }
}
