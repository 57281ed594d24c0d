import type { ComponentChildren } from 'preact'
import { count } from '../state/clock.ts'
import type { PagedList } from './paged-list.ts'

/** A key or two, and what they do. */
export type KeyHint = readonly [keys: readonly string[], does: string]

/** The line under a list: how much of it is loaded, and what keys do. */
export const ListFoot = ({ hints, children }: { hints: readonly KeyHint[]; children: ComponentChildren }) => (
  <footer class="small dim list-foot">
    <span>{children}</span>
    <span class="line key-hints">
      {hints.map(([keys, does]) => (
        <span key={does}>
          {keys.map((key) => (
            <kbd>{key}</kbd>
          ))}{' '}
          {does}
        </span>
      ))}
    </span>
  </footer>
)

/** How much of a list is loaded; '' while that is unknown, and for an empty list. */
export function loadedText<Row>({ shown, total, hasMore }: PagedList<Row>): string {
  if (total.value === null || shown.value.length === 0) return ''
  return hasMore.value
    ? `${count(shown.value.length)} of ${count(total.value)} loaded, more as you scroll`
    : `All ${count(total.value)} loaded`
}
