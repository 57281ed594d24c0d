import { effect, signal } from '@preact/signals'
import { messageIdOf } from '../messages/row.ts'
import { onEvent } from '../state/live.ts'
import type { LiveEvent } from '../state/live-event.ts'
import { session } from '../state/session.ts'

/** A send that this page made: when, how long the gateway took to answer, and what both sent. */
export interface OwnSend {
  at: number
  ms: number
  request: { to: string; from: string; body: string; mediaIds?: readonly string[] }
  response: unknown
}

/** An event as this page's socket received it. */
export interface HeardEvent {
  at: number
  event: LiveEvent
}

/** What the page itself measured stays until it is reloaded or signed out, whichever view and contact are shown. */
export const sends = signal<ReadonlyMap<string, OwnSend>>(new Map())
export const heard = signal<readonly HeardEvent[]>([])

/** This many of the newest events are kept, and all of the page's own sends. */
const KEPT_EVENTS = 1000

/** Records each event of the socket, even while another view is shown. */
export function followHeard(): void {
  onEvent((event) => {
    const all = [...heard.value, { at: Date.now(), event }]
    heard.value =
      all.length > KEPT_EVENTS ? all.filter((each, index) => index >= all.length - KEPT_EVENTS || isOwn(each)) : all
  })
  effect(() => {
    if (session.value !== null) return
    sends.value = new Map()
    heard.value = []
  })
}

const isOwn = ({ event }: HeardEvent): boolean => sends.peek().has(messageIdOf(event) ?? '')

export function noteSend(messageId: string, send: OwnSend): void {
  sends.value = new Map([...sends.value, [messageId, send]])
}
