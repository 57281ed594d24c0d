import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Preview } from '../../../client/client.ts'
import { client } from '../state/caller.ts'
import type { ListRow } from './row.ts'

/** The text as a bubble, and under it how many SMS it takes, as the gateway counts. */
export function TextWithSegments({ row }: { row: ListRow }) {
  const preview = useSignal<Preview | null>(null)
  const sgw = client.value
  useEffect(() => {
    preview.value = null
    if (row.direction === 'inbound') return
    const timer = setTimeout(() => {
      void sgw?.sms.preview(row.body).then(
        (answer) => void (preview.value = answer),
        () => undefined,
      )
    }, 200)
    return () => clearTimeout(timer)
  }, [row.messageId])
  return (
    <>
      <div class={row.direction === 'inbound' ? 'bubble theirs' : 'bubble ours'} dir="auto">
        <span class="mask">{row.body}</span>
      </div>
      {row.direction === 'outbound' && (
        <p class="small dim bubble-note">{preview.value === null ? '\u00a0' : segmentsText(preview.value)}</p>
      )}
    </>
  )
}

/** `1 segment, GSM-7, 65 of 160 characters`. */
function segmentsText({ segments, encoding, characters }: Preview): string {
  const [single, part] = encoding === 'GSM-7' ? [160, 153] : [70, 67]
  const room = segments === 1 ? single : segments * part
  return `${segments === 1 ? '1 segment' : `${segments} segments`}, ${encoding}, ${characters} of ${room} characters`
}
