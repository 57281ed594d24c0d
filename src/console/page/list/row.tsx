import type { ComponentChildren } from 'preact'
import { Icon } from '../parts/icon.tsx'
import type { IconName } from '../parts/icon-paths.ts'
import { clockTime, utcTime } from '../state/clock.ts'
import type { Marks } from './list-detail.tsx'

interface RowProps extends Marks {
  /** Its key in the list. */
  id: string
  /** Leads to what the row opens. */
  href: string
  at: string
  state: { icon: IconName; word: string }
  class: string
  children: ComponentChildren
}

/** A row that opens something: its time and state, and what the list has besides. */
export const Row = ({ id, href, at, state, isOpen, isCursor, class: kind, children }: RowProps) => (
  <a
    class={`columns row ${kind} ${isCursor ? 'cursor' : ''}`}
    href={href}
    data-id={id}
    aria-current={isOpen ? 'true' : undefined}
  >
    <time dateTime={at} title={utcTime(at)}>
      {clockTime(at)}
    </time>
    <span class="line state" title={state.word}>
      <Icon name={state.icon} />
      <span class="word">{state.word}</span>
    </span>
    {children}
  </a>
)
