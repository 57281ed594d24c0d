import type { Signal } from '@preact/signals'
import { moveRows } from '../list/cursor.ts'
import { param, refine } from '../state/address.ts'
import type { DeliveryList } from './delivery-list.ts'
import { keyOf } from './filter.ts'

/** Moves to the next or previous attempt. With an open one, that attempt opens in its place. */
export const moveCursor = (list: DeliveryList, cursor: Signal<string>, step: number): void =>
  moveRows(list, cursor, param('id'), step, (row) => refine({ id: keyOf(row) }))
