interface ButtonProps {
  text: string
  class?: string | undefined
  isDisabled?: boolean
  run: () => unknown
}

/** A button with words on it. */
export const Button = ({ text, class: className = 'button', isDisabled = false, run }: ButtonProps) => (
  <button type="button" class={className} disabled={isDisabled} onClick={run}>
    {text}
  </button>
)
