import { Segments } from '../thread/segments.tsx'
import type { ListRow } from './row.ts'

/** The text as a bubble, and under it how many SMS it takes, as the gateway counts. */
export const TextWithSegments = ({ row }: { row: ListRow }) => (
  <>
    <div class={row.direction === 'inbound' ? 'bubble theirs' : 'bubble ours'} dir="auto">
      <span class="mask">{row.body}</span>
    </div>
    {row.direction === 'outbound' && (
      <p class="small dim bubble-note">
        <Segments key={row.messageId} text={row.body} />
      </p>
    )}
  </>
)
