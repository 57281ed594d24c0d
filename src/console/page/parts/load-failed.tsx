interface LoadFailedProps {
  /** What could not be loaded: `The messages`. */
  what: string
  /** Why, as a sentence; '' while it is read. */
  error: string
  again: () => void
}

/** The content in place of something that could not be loaded. */
export const LoadFailed = ({ what, error, again }: LoadFailedProps) =>
  error === '' ? null : (
    <div class="stack empty" role="alert">
      <h2>{what} could not be loaded.</h2>
      <p class="dim">{error}</p>
      <button type="button" class="button" onClick={again}>
        Try again
      </button>
    </div>
  )
