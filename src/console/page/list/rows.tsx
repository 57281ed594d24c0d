import { useComputed, useSignal } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { isPhoneWide } from '../parts/media.ts'
import { clockTime, count, dayHeader, now } from '../state/clock.ts'
import type { PagedList } from './paged-list.ts'
import { type Gap, HEIGHTS, type Item, itemsOf, windowOf } from './window.ts'
import './rows.css'

/** The next page is loaded this many pixels before the end of the loaded rows. */
const LOAD_AHEAD_PX = 1200

interface RowsProps<Row> {
  list: PagedList<Row>
  /** What a screen reader calls the list. */
  label: string
  /** The row to keep visible; '' for none. */
  cursor: string
  draw: (row: Row) => ComponentChild
}

/** The rows that are visible. At the top new ones appear; when scrolled, their number does. */
export function Rows<Row>({ list, label, cursor, draw }: RowsProps<Row>) {
  const { box, scroll, noteScroll } = useScroll()
  const items = useComputed(() =>
    itemsOf(list.shown.value, list, list.gap.value, isPhoneWide.value ? HEIGHTS.phone : HEIGHTS.wide),
  )
  useLayoutEffect(() => showCursor(box.current, items.value, cursor), [cursor])
  const onScroll = ({ currentTarget }: { currentTarget: HTMLElement }): void => {
    noteScroll()
    const { top, height } = scroll.value
    // On a phone, the first row that the keys lead to leaves so many pixels above it.
    list.isAtTop = top <= 8
    if (list.isAtTop) void list.seen()
    if (top + height > currentTarget.scrollHeight - LOAD_AHEAD_PX) void list.loadMore()
  }
  const toTop = (): void => {
    box.current?.scrollTo({ top: 0 })
    list.isAtTop = true
    void list.seen()
  }
  const { visible, above, below, header } = windowOf(items.value, scroll.value.top, scroll.value.height)
  return (
    <div class="scroller rows" ref={box} onScroll={onScroll} tabIndex={-1} role="region" aria-label={label}>
      {header?.type === 'day' && <DayHeader at={header.at} newCount={list.newCount.value} toTop={toTop} />}
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

/** Which part of a box is visible, in pixels. */
function useScroll() {
  const box = useRef<HTMLDivElement>(null)
  const scroll = useSignal({ top: 0, height: 900 })
  const noteScroll = (): void => {
    if (box.current !== null) scroll.value = { top: box.current.scrollTop, height: box.current.clientHeight }
  }
  useEffect(() => {
    const observer = new ResizeObserver(noteScroll)
    if (box.current) observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  return { box, scroll, noteScroll }
}

function ItemOf<Row>({ item, list, draw }: Pick<RowsProps<Row>, 'list' | 'draw'> & { item: Item<Row> }) {
  if (item.type === 'day') return <DayHeader at={item.at} />
  if (item.type === 'gap') return <GapLine gap={item.gap} again={() => void list.load()} />
  return <>{draw(item.row)}</>
}

/** The header of the first visible day stays at the top, and leads to new rows. */
const DayHeader = ({ at, newCount = 0, toTop }: { at: string; newCount?: number; toTop?: () => void }) => (
  <div class={toTop ? 'day sticky' : 'day'}>
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
    <Button text="Load them again" class="link" run={again} />
  </div>
)

/** Scrolls as little as needed to show a row below the sticky header. */
function showCursor(box: HTMLElement | null, items: readonly Item<unknown>[], key: string): void {
  const item = items.find((candidate) => candidate.key === key)
  if (box === null || item === undefined) return
  const { top, height } = item
  const header = HEIGHTS.wide.day
  if (top < box.scrollTop + header) box.scrollTop = top - header
  else if (top + height > box.scrollTop + box.clientHeight) box.scrollTop = top + height - box.clientHeight
}
