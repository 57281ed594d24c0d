import { effect, signal } from '@preact/signals'
import { type ConnectionState, type Sgw, SgwError } from '../../../client/client.ts'
import { pause } from '../../../client/pause.ts'
import { ENDED, client, readStatus } from './caller.ts'
import type { LiveEvent } from './live-event.ts'
import { endSession, session } from './session.ts'

type Listener = (event: LiveEvent) => void

const listeners = new Set<Listener>()

/** Whether events arrive; `retryAt` and `since` are times in milliseconds, or null. `isRefused`: the tenant is not active. */
export const connection = signal({
  online: true,
  isRefused: false,
  retryAt: null as number | null,
  since: null as number | null,
})

/** Whether events have begun to arrive since the console started acting as this app. */
const hasBegun = signal(false)

/** Whether the first load is over, which stays small. */
export const isFirstLoadOver = signal(false)

/**
 * Calls `run` once events arrive and the first load is over, because what was read before may lack what arrived in between. Does not call it if
 * events arrive already.
 */
export function onceFollowing(run: () => void): () => void {
  if (hasBegun.peek() && isFirstLoadOver.peek()) return () => undefined
  let isDone = false
  return effect(() => {
    if (isDone || !hasBegun.value || !isFirstLoadOver.value) return
    isDone = true
    run()
  })
}

export function onEvent(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Follows the events of the app that the console acts as. Starts again when the app changes. */
export function followEvents(): void {
  effect(() => {
    const sgw = client.value
    if (sgw === null) return
    hasBegun.value = false
    const stop = new AbortController()
    void follow(sgw, stop.signal)
    return () => stop.abort()
  })
}

/**
 * A suspended tenant refuses sockets, but an operator may read its messages, so the session stays. It also stays if something in front of the
 * gateway redirects, such as the sign-in of a proxy.
 */
const AGAIN_AFTER_REFUSAL_MS = 10_000

async function follow(sgw: Sgw, stop: AbortSignal): Promise<void> {
  let after: string | undefined
  while (!stop.aborted) {
    const events = sgw.events({ after, signal: stop, onState: noteState })
    try {
      for await (const event of events) publish(event)
    } catch (error) {
      if (stop.aborted) return
      const status = error instanceof SgwError ? error.status : 0
      const stays = (status >= 300 && status < 400) || (status === 403 && session.value?.kind === 'operator')
      if (!stays) return endSession(ENDED)
      if (status === 403) await readStatus()
      noteState({ online: false, retryAt: new Date(Date.now() + AGAIN_AFTER_REFUSAL_MS) }, error)
      await pause(AGAIN_AFTER_REFUSAL_MS, stop)
    }
    after = events.cursor
  }
}

function publish(event: LiveEvent): void {
  for (const listener of listeners) listener(event)
}

function noteState({ online, retryAt }: ConnectionState, error?: unknown): void {
  const { since } = connection.value
  if (online) hasBegun.value = true
  connection.value = {
    online,
    isRefused: error instanceof SgwError && error.status === 403,
    retryAt: retryAt?.getTime() ?? null,
    since: online ? null : (since ?? Date.now()),
  }
}
