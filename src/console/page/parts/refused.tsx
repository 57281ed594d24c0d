/** Why something that a person asked for failed; nothing while it did not. */
export const Refused = ({ error, class: className = 'bad' }: { error: string; class?: string }) =>
  error === '' ? null : (
    <p class={className} role="alert">
      {error}
    </p>
  )
