import type { Signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { address, open, param, refine } from '../state/address.ts'
import type { View } from '../state/view-names.ts'
import type { LiveList } from './rows.tsx'

/** How many rows before the end of the loaded ones the next page is loaded. */
const LOAD_AHEAD_ROWS = 5

export const focusList = (): void => document.querySelector<HTMLElement>('.list')?.focus()
export const focusDetail = (): void => document.querySelector<HTMLElement>('.detail')?.focus()

/** Focuses the row that was open, which is there again once the page is drawn. */
export function focusRow(key: string): void {
  requestAnimationFrame(() => {
    const row = document.querySelector<HTMLElement>(`[data-id="${CSS.escape(key)}"]`)
    if (row === null) focusList()
    else row.focus()
  })
}

/** Closes what is open; the focus returns to its row. */
export function close(): void {
  const id = param('id')
  refine({ id: '' })
  focusRow(id)
}

/** Moves to the next or previous row. With an open one, that row opens in its place. */
export const moveCursor = <Row>(list: LiveList<Row>, cursor: Signal<string>, step: number): void =>
  moveRows(list, cursor, param('id'), step, (row) => refine({ id: list.keyOf(row) }))

/** Moves the cursor to the next or previous row. With an open one, `opened`, that row opens in its place by `show`. */
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

/** What a list does with a key; `copy` copies the open item. False if the key means nothing to a list. */
export function onListKey<Row>(
  key: string,
  list: LiveList<Row>,
  cursor: Signal<string>,
  { view, copy }: { view: View; copy: (id: string) => void },
): boolean {
  const id = param('id')
  if (key === 'j') moveCursor(list, cursor, 1)
  else if (key === 'k') moveCursor(list, cursor, -1)
  else if (key === 'Enter' && cursor.value !== '' && cursor.value !== id && !isOnControl())
    open(view, { ...address.value.params, id: cursor.value })
  else if (key === 'Escape' && id !== '') close()
  else if (key === 'c' && id !== '') copy(id)
  else return false
  return true
}

/** Whether Enter means something else: a row is opened by the cursor, wherever the focus is. */
export const isOnControl = (): boolean => document.activeElement?.matches('a:not(.row), button, summary') === true

/** Whether a person opened what is open; what is open when the page is loaded takes no focus. */
export function useIsOpened(opened: string): boolean {
  const atLoad = useRef<string | null>(opened)
  if (opened !== atLoad.current) atLoad.current = null
  return opened !== atLoad.current
}
