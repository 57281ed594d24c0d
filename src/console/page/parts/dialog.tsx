import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/** A dialog over the page. The browser keeps the focus inside and returns it. Esc and a click beside it close it. */
export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const { current } = dialog
    current?.showModal()
    // A dialog that is removed while it is open does not return the focus.
    return () => current?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      class="floating dialog"
      aria-label={title}
      // The event comes late, when another dialog may have taken its place.
      onClose={({ currentTarget }) => void (currentTarget.isConnected && close())}
      onClick={({ target, currentTarget }) => void (target === currentTarget && currentTarget.close())}
    >
      <div class="dialog-body">
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}
