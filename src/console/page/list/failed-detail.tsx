import type { ComponentChild } from 'preact'

interface FailedDetailProps {
  /** What should stand here. */
  name: string
  failure: ComponentChild
  close: () => void
}

/** In place of what is open, where its file could not be loaded. On a phone the list is not there to go back to. */
export const FailedDetail = ({ name, failure, close }: FailedDetailProps) => (
  <aside class="detail-failed" aria-label={name}>
    {failure}
    <button type="button" class="button quiet" onClick={close}>
      Back to the list
    </button>
  </aside>
)
