import { Icon } from '../parts/icon.tsx'
import { attachmentsText } from '../messages/row.ts'

/** In a row: how many pictures or other files a message carries; empty for a plain text. */
export const Carried = ({ count = 0 }: { count?: number | undefined }) =>
  count === 0 ? null : (
    <span class="line carried">
      <Icon name="M3 5h18v14H3zM3 17l6-6 8 8M14 15l3-3 4 4" />
      <span>{attachmentsText(count)}</span>
    </span>
  )
