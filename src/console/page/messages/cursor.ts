import type { Signal } from '@preact/signals'
import { focusRow, moveRows } from '../list/cursor.ts'
import { param, refine } from '../state/address.ts'
import type { MessageList } from './list-state.ts'

export { focusList } from '../list/cursor.ts'

/** Closes the open message; the focus returns to its row. */
export function close(): void {
  const id = param('id')
  refine({ id: '' })
  focusRow(id)
}

export const focusDetail = (): void => document.querySelector<HTMLElement>('.detail')?.focus()

/** Moves to the next or previous row. With an open message, that row opens in its place. */
export const moveCursor = (list: MessageList, cursor: Signal<string>, step: number): void =>
  moveRows(list, cursor, param('id'), step, ({ messageId }) => refine({ id: messageId }))
