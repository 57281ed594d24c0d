import type { Signal } from '@preact/signals'
import { focusList } from '../messages/cursor.ts'
import { param, refine } from '../state/address.ts'
import type { DeliveryList } from './delivery-list.ts'
import { keyOf } from './filter.ts'

/** Closes what is open; the focus returns to its row. */
export function close(): void {
  const id = param('id')
  refine({ id: '' })
  requestAnimationFrame(() => {
    const row = document.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)
    if (row === null) focusList()
    else row.focus()
  })
}

/** Moves to the next or previous attempt. With an open one, that attempt opens in its place. */
export function moveCursor(list: DeliveryList, cursor: Signal<string>, step: number): void {
  const rows = list.shown.value
  const id = param('id')
  const at = rows.findIndex((row) => keyOf(row) === (id || cursor.value))
  const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]
  if (next === undefined) return
  cursor.value = keyOf(next)
  if (id !== '') refine({ id: keyOf(next) })
  if (at + step >= rows.length - 5) void list.loadMore()
}
