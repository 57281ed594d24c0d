import { Icon } from './icon.tsx'
import type { IconName } from './icon-paths.ts'

interface IconButtonProps {
  icon: IconName
  label: string
  title?: string
  class?: string
  isDisabled?: boolean
  run: () => void
}

/** A button without a word: the label says to a screen reader what it does. */
export const IconButton = ({ icon, label, title, class: more = '', isDisabled = false, run }: IconButtonProps) => (
  <button
    type="button"
    class={`icon-button ${more}`}
    aria-label={label}
    title={title}
    disabled={isDisabled}
    onClick={run}
  >
    <Icon name={icon} />
  </button>
)
