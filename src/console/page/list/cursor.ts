import type { Signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { param, refine } from '../state/address.ts'
import type { LiveList } from './rows.tsx'

/** The next page is loaded this many rows before the end of the loaded ones. */
const LOAD_AHEAD_ROWS = 5

export const focusList = (): void => document.querySelector<HTMLElement>('.list')?.focus()
export const focusComposer = (): void => document.querySelector<HTMLElement>('.composer textarea')?.focus()
export const focusDetail = (): void => document.querySelector<HTMLElement>('.detail')?.focus()

/** Focuses the row that was open, once the page draws it again. */
function focusRow(key: string): void {
  requestAnimationFrame(() => {
    const row = document.querySelector<HTMLElement>(`[data-id="${CSS.escape(key)}"]`)
    if (row === null) focusList()
    else row.focus()
  })
}

/** Closes the open item by removing its parameters. The focus returns to its row. */
export function closeRow(key: string, params: Record<string, string>): void {
  refine(params)
  focusRow(key)
}

export const close = (): void => closeRow(param('id'), { id: '' })

/** Moves the cursor to the next or previous row. If a row is open (`opened`), `show` opens the new one instead. */
export function moveRows<Row>(
  list: LiveList<Row>,
  cursor: Signal<string>,
  opened: string,
  step: number,
  show: (row: Row) => void,
): void {
  const rows = list.shown.value
  const at = rows.findIndex((row) => list.keyOf(row) === (opened || cursor.value))
  const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]
  if (next === undefined) return
  cursor.value = list.keyOf(next)
  if (opened !== '') show(next)
  if (at + step >= rows.length - LOAD_AHEAD_ROWS) void list.loadMore()
}

/** Whether Enter means something else. Otherwise, it opens the row at the cursor, wherever the focus is. */
export const isOnControl = (): boolean => document.activeElement?.matches('a:not(.row), button, summary') === true

/** Whether a person opened the item. An item that is open when the page loads takes no focus. */
export function useIsOpened(opened: string): boolean {
  const atLoad = useRef<string | null>(opened)
  if (opened !== atLoad.current) atLoad.current = null
  return opened !== atLoad.current
}
