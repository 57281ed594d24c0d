import type { ComponentChildren } from 'preact'
import { IconButton } from '../parts/icon-button.tsx'
import './detail-head.css'
import './print.css'

interface BarProps {
  class?: string
  /** The content at the left, and at the right before the close button. */
  title: ComponentChildren
  children: ComponentChildren
  close: () => void
}

/** The bar above what is open, with the way back to the list. */
export const Bar = ({ class: more = '', title, children, close }: BarProps) => (
  <header class={`line detail-head ${more}`}>
    <IconButton class="back" icon="left" label="Back to the list" run={close} />
    {title}
    <span class="rail-space" />
    {children}
    <IconButton class="shut" icon="failed" label="Close" title="Close (Esc)" run={close} />
  </header>
)
