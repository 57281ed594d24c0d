import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  title: string
  close: () => void
  /** Only its own button closes it. */
  isKept?: boolean
  children: ComponentChildren
}

/** A dialog over the page. The browser keeps the focus inside and returns it. Esc and a click beside it close it. */
export function Dialog({ title, close, isKept = false, children }: DialogProps) {
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
      // The event comes late: the dialog may be gone, and another one in its place.
      onClose={({ currentTarget }) => {
        if (!currentTarget.isConnected) return
        // Esc closed it.
        if (isKept) currentTarget.showModal()
        else close()
      }}
      onClick={({ target, currentTarget }) => void (target === currentTarget && !isKept && currentTarget.close())}
    >
      <div class="dialog-body">
        <h2>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}
