import type { ComponentChildren } from 'preact'

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
