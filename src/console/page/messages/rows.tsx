import { type Signal, useComputed, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { ExtensionHealth } from '../../../client/client.ts'
import { Icon } from '../parts/icon.tsx'
import { isPhoneWide } from '../parts/media.ts'
import { param } from '../state/address.ts'
import { appName } from '../state/caller.ts'
import { clockTime, count, dayHeader, now } from '../state/clock.ts'
import { EmptyList } from './empty-list.tsx'
import type { Gap, MessageList } from './list-state.ts'
import { MessageRow } from './message-row.tsx'
import { HEIGHTS, type Item, itemsOf, windowOf } from './window.ts'

/** How near to its top a list counts as being there, in pixels. */
const TOP_PX = 8
/** So many pixels before the end of the loaded rows the next page is loaded. */
const LOAD_AHEAD_PX = 1200

interface RowsProps {
  list: MessageList
  cursor: string
  /** Null until they are known. */
  extensions: readonly ExtensionHealth[] | null
}

/** The rows that are visible. At the top new ones appear; when scrolled, what is visible stays where it is. */
export function Rows({ list, cursor, extensions }: RowsProps) {
  const box = useRef<HTMLDivElement>(null)
  const scroll = useSignal({ top: 0, height: 900 })
  const items = useComputed(() =>
    itemsOf(list.shown.value, list.gap.value, isPhoneWide.value ? HEIGHTS.phone : HEIGHTS.wide),
  )
  useEffect(() => followSize(box.current, scroll), [])
  const top = useStay(box, items.value, scroll, list)
  useLayoutEffect(() => showCursor(box.current, items.value, param('id') || cursor), [cursor, param('id')])
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
  const { visible, above, below, day } = windowOf(items.value, top, scroll.value.height)
  const header = items.value.find((item) => item.type === 'day' && item.key === day)
  if (list.shown.value.length === 0) return <EmptyList list={list} extensions={extensions} />
  return (
    <div class="rows" ref={box} onScroll={noteScroll} tabIndex={-1} role="region" aria-label="Messages, newest first">
      {header?.type === 'day' && <DayHeader at={header.at} newCount={list.newCount.value} toTop={toTop} isSticky />}
      <div class="spacer" style={{ height: `${above}px` }} />
      <ol>
        {visible.map((item) => (
          <li key={item.key} class={item.type === 'day' && item.key === day ? 'under-header' : undefined}>
            <ItemOf item={item} cursor={cursor} list={list} />
          </li>
        ))}
      </ol>
      <div class="spacer" style={{ height: `${below}px` }} />
    </div>
  )
}

function ItemOf({ item, cursor, list }: { item: Item; cursor: string; list: MessageList }) {
  if (item.type === 'day') return <DayHeader at={item.at} />
  if (item.type === 'gap') return <GapLine gap={item.gap} again={() => void list.load()} />
  const { row } = item
  return (
    <MessageRow
      row={row}
      isOpen={row.messageId === param('id')}
      isCursor={row.messageId === cursor}
      appName={appName(row.appId)}
      now={now.peek()}
    />
  )
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
      <button type="button" class="new-pill" onClick={toTop}>
        <Icon name="up" />
        {count(newCount)} new
      </button>
    )}
    <span />
  </div>
)

const GapLine = ({ gap, again }: { gap: Gap; again: () => void }) => (
  <div class="gap-line" role="status">
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
 * Keeps the visible rows in place when rows come in above them; returns where the visible part begins. It is known before the rows are
 * drawn: otherwise others would be drawn first, and these once more.
 */
function useStay(
  box: { current: HTMLElement | null },
  items: readonly Item[],
  scroll: Signal<Scroll>,
  list: MessageList,
): number {
  const before = useRef<{ key: string; top: number } | null>(null)
  const { top } = scroll.value
  const isAtTop = top <= TOP_PX
  const moved = before.current === null || isAtTop ? 0 : topOf(items, before.current.key) - before.current.top
  useLayoutEffect(() => {
    if (isAtTop) list.newCount.value = 0
    before.current = anchorAt(items, top + moved)
    if (moved === 0 || box.current === null) return
    box.current.scrollTop += moved
    scroll.value = { ...scroll.peek(), top: box.current.scrollTop }
  })
  return top + moved
}

function anchorAt(items: readonly Item[], scrollTop: number): { key: string; top: number } | null {
  let top = 0
  for (const item of items) {
    if (item.type === 'row' && top >= scrollTop) return { key: item.key, top }
    top += item.height
  }
  return null
}

/** The distance of an item from the list's top; 0 if it is gone, because another list begins at its top. */
function topOf(items: readonly Item[], key: string): number {
  let top = 0
  for (const item of items) {
    if (item.key === key) return top
    top += item.height
  }
  return 0
}

/** Scrolls as little as needed to show a row below the sticky header. */
function showCursor(box: HTMLElement | null, items: readonly Item[], key: string): void {
  const item = items.find((candidate) => candidate.key === key)
  if (box === null || item === undefined) return
  const top = topOf(items, key)
  const header = HEIGHTS.wide.day
  if (top < box.scrollTop + header) box.scrollTop = top - header
  else if (top + item.height > box.scrollTop + box.clientHeight) box.scrollTop = top + item.height - box.clientHeight
}
