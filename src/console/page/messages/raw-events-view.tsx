import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { clockTime } from '../state/clock.ts'
import { onEvent } from '../state/live.ts'
import type { LiveEvent } from '../state/live-event.ts'
import './raw-events.css'

const MAX_EVENTS = 200

/** The events as the socket has them, newest first, since this was opened. */
export function RawEvents({ close }: { close: () => void }) {
  const events = useSignal<readonly { at: number; event: LiveEvent }[]>([])
  useEffect(
    () => onEvent((event) => void (events.value = [{ at: Date.now(), event }, ...events.value].slice(0, MAX_EVENTS))),
    [],
  )
  return (
    <section class="stack raw-events" aria-label="Raw events">
      <header class="line">
        <b>Raw events</b>
        <span class="dim small">as the WebSocket sends them</span>
        <button type="button" class="icon-button tiny" aria-label="Close raw events" onClick={close}>
          <Icon name="failed" />
        </button>
      </header>
      <ol>
        {events.value.length === 0 && <li class="dim none">The next event will stand here.</li>}
        {events.value.map(({ at, event }, index) => (
          <li key={events.value.length - index}>
            <span class="dim">{clockTime(at)}</span> <span class="mask">{JSON.stringify(event)}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}
