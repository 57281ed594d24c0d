import './copyable.css'
import { CopyButton } from './copy.tsx'

/** A link or a key that is shown only this once, ready to copy. */
export const Secret = ({ text, label }: { text: string; label: string }) => (
  <p class="line copyable">
    <span class="mono">{text}</span>
    <CopyButton text={text} label={label} />
  </p>
)
