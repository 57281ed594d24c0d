import { type ReadonlySignal, type Signal, useComputed, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from '../parts/icon.tsx'
import { isPhoneWide } from '../parts/media.ts'
import { clockTime, count, dayHeader, now } from '../state/clock.ts'
import { type Gap, HEIGHTS, type Item, type RowFacts, itemsOf, windowOf } from './window.ts'
import './rows.css'

/** How close to its top a list counts as being there, in pixels. */
const TOP_PX = 8
/** The next page is loaded this many pixels before the end of the loaded rows. */
const LOAD_AHEAD_PX = 1200

/** The loaded rows, which new ones join. */
export interface LiveList<Row> extends RowFacts<Row> {
  shown: ReadonlySignal<readonly Row[]>
  gap: ReadonlySignal<Gap | null>
  /** Rows that arrived since the list was last at its top. */
  newCount: Signal<number>
  /** Set by the rows: whether the newest are visible. */
  isAtTop: boolean
  /** Moves the focus while something else replaces the rows. */
  step?: ((by: number) => void) | undefined
  /** The newest rows were seen. */
  seen(): void
  load(): Promise<void>
  loadMore(): Promise<void>
}

interface RowsProps<Row> {
  list: LiveList<Row>
  /** What a screen reader calls the list. */
  label: string
  /** The row to keep visible; '' for none. */
  cursor: string
  draw: (row: Row) => ComponentChild
}

/** The visible rows. At the top, new ones appear; in a scrolled list, the visible ones stay where they are. */
export function Rows<Row>({ list, label, cursor, draw }: RowsProps<Row>) {
  const box = useRef<HTMLDivElement>(null)
  const scroll = useSignal({ top: 0, height: 900 })
  const items = useComputed(() =>
    itemsOf(list.shown.value, list, list.gap.value, isPhoneWide.value ? HEIGHTS.phone : HEIGHTS.wide),
  )
  useEffect(() => followSize(box.current, scroll), [])
  const top = useStay(box, items.value, scroll, list)
  useLayoutEffect(() => showCursor(box.current, items.value, cursor), [cursor])
  const noteScroll = ({ currentTarget }: { currentTarget: HTMLElement }): void => {
    scroll.value = { top: currentTarget.scrollTop, height: currentTarget.clientHeight }
    list.isAtTop = currentTarget.scrollTop <= TOP_PX
    if (list.isAtTop) list.seen()
    if (currentTarget.scrollTop + currentTarget.clientHeight > currentTarget.scrollHeight - LOAD_AHEAD_PX)
      void list.loadMore()
  }
  const toTop = (): void => {
    box.current?.scrollTo({ top: 0 })
    list.seen()
  }
  const { visible, above, below, header } = windowOf(items.value, top, scroll.value.height)
  return (
    <div class="scroller rows" ref={box} onScroll={noteScroll} tabIndex={-1} role="region" aria-label={label}>
      {header?.type === 'day' && <DayHeader at={header.at} newCount={list.newCount.value} toTop={toTop} isSticky />}
      <div class="spacer" style={{ height: `${above}px` }} />
      <ol>
        {visible.map((item) => (
          <li key={item.key} class={item === header ? 'under-header' : undefined}>
            <ItemOf item={item} list={list} draw={draw} />
          </li>
        ))}
      </ol>
      <div class="spacer" style={{ height: `${below}px` }} />
    </div>
  )
}

interface ItemProps<Row> extends Pick<RowsProps<Row>, 'list' | 'draw'> {
  item: Item<Row>
}

function ItemOf<Row>({ item, list, draw }: ItemProps<Row>) {
  if (item.type === 'day') return <DayHeader at={item.at} />
  if (item.type === 'gap') return <GapLine gap={item.gap} again={() => void list.load()} />
  return <>{draw(item.row)}</>
}

interface DayHeaderProps {
  at: string
  newCount?: number
  toTop?: () => void
  isSticky?: boolean
}

const DayHeader = ({ at, newCount = 0, toTop, isSticky = false }: DayHeaderProps) => (
  <div class={isSticky ? 'day sticky' : 'day'}>
    <span>{dayHeader(at, now.peek())}</span>
    {newCount > 0 && (
      <button type="button" class="line new-pill" onClick={toTop}>
        <Icon name="up" />
        {count(newCount)} new
      </button>
    )}
    <span />
  </div>
)

const GapLine = ({ gap, again }: { gap: Gap; again: () => void }) => (
  <div class="line gap-line" role="status">
    Events between {clockTime(gap.after)} and {clockTime(gap.before)} may be missing.{' '}
    <button type="button" class="link" onClick={again}>
      Load them again
    </button>
  </div>
)

function followSize(box: HTMLElement | null, scroll: Signal<Scroll>): () => void {
  const observer = new ResizeObserver(() => {
    if (box !== null) scroll.value = { top: box.scrollTop, height: box.clientHeight }
  })
  if (box !== null) observer.observe(box)
  return () => observer.disconnect()
}

interface Scroll {
  top: number
  height: number
}

/**
 * Keeps the visible rows in place when rows are added above them; returns where the visible part begins. This is known before the rows are
 * drawn: otherwise, different rows would be drawn first, and then these.
 */
function useStay<Row>(
  box: { current: HTMLElement | null },
  items: readonly Item<Row>[],
  scroll: Signal<Scroll>,
  list: LiveList<Row>,
): number {
  const before = useRef<Item<Row> | undefined>(undefined)
  const { top } = scroll.value
  const isAtTop = top <= TOP_PX
  const moved = before.current === undefined || isAtTop ? 0 : topOf(items, before.current.key) - before.current.top
  useLayoutEffect(() => {
    if (isAtTop) list.newCount.value = 0
    before.current = items.find((item) => item.type === 'row' && item.top >= top + moved)
    if (moved === 0 || box.current === null) return
    box.current.scrollTop += moved
    scroll.value = { ...scroll.peek(), top: box.current.scrollTop }
  })
  return top + moved
}

/** The distance of an item from the list's top; 0 if it is gone, because a different list begins at its top. */
const topOf = (items: readonly Item<unknown>[], key: string): number => items.find((item) => item.key === key)?.top ?? 0

/** Scrolls as little as needed to show a row below the sticky header. */
function showCursor(box: HTMLElement | null, items: readonly Item<unknown>[], key: string): void {
  const item = items.find((candidate) => candidate.key === key)
  if (box === null || item === undefined) return
  const { top, height } = item
  const header = HEIGHTS.wide.day
  if (top < box.scrollTop + header) box.scrollTop = top - header
  else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight
}
