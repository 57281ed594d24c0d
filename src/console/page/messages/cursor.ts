import type { Signal } from '@preact/signals'
import { param, refine } from '../state/address.ts'
import type { MessageList } from './list-state.ts'

/** Closes the open message; the focus returns to its row. */
export function close(): void {
  const id = param('id')
  refine({ id: '' })
  requestAnimationFrame(() => {
    const row = document.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)
    if (row === null) focusList()
    else row.focus()
  })
}

export const focusList = (): void => document.querySelector<HTMLElement>('.list')?.focus()
export const focusDetail = (): void => document.querySelector<HTMLElement>('.detail')?.focus()

/** Moves to the next or previous row. With an open message, that row opens in its place. */
export function moveCursor(list: MessageList, cursor: Signal<string>, step: number): void {
  const rows = list.shown.value
  const at = rows.findIndex(({ messageId }) => messageId === (param('id') || cursor.value))
  const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))]
  if (next === undefined) return
  cursor.value = next.messageId
  if (param('id') !== '') refine({ id: next.messageId })
  if (at + step >= rows.length - 5) void list.loadMore()
}
