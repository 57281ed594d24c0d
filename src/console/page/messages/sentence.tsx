import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Overview } from '../../../client/client.ts'
import { troubles } from '../frame/views.ts'
import { addressOf } from '../state/address.ts'
import { client } from '../state/caller.ts'
import { count } from '../state/clock.ts'
import { onEvent } from '../state/live.ts'

/** The figures are read again after events, at most this often. */
const READ_EVERY_MS = 30_000

/** What matters about the last day's messages, in one sentence with its nouns linked. */
export function Sentence() {
  const overview = useOverview()
  if (overview === null) return <h1 class="sentence">Messages</h1>
  const { totals, previous, queued, scheduled } = overview
  const waits = Math.max(0, queued - scheduled)
  if (totals.accepted === 0 && totals.received === 0 && queued === 0)
    return <h1 class="sentence">No messages in 24 hours.</h1>
  const failed = totals.failed > 0 && (
    <a class="link" href={addressOf('messages', { status: 'failed' })}>
      {count(totals.failed)} of {count(totals.accepted)}
    </a>
  )
  const waiting = waits > 0 && (
    <a class="link" href={addressOf('messages', { status: 'queued' })}>
      {count(waits)} {waits === 1 ? 'waits' : 'wait'}
    </a>
  )
  return (
    <h1 class="sentence">
      {failed !== false && (
        <>
          {failed} failed in 24 hours
          {totals.failed > previous.failed
            ? `, ${previous.failed === 0 ? 'none' : count(previous.failed)} the day before`
            : ''}
        </>
      )}
      {failed !== false && waiting !== false && '; '}
      {waiting}
      {failed === false &&
        waiting === false &&
        `${count(totals.sent)} sent and ${count(totals.received)} received in 24 hours, none failed`}
      {failed === false && waiting !== false && ', none failed in 24 hours'}.
    </h1>
  )
}

function useOverview(): Overview | null {
  const overview = useSignal<Overview | null>(null)
  const sgw = client.value
  useEffect(() => {
    if (sgw === null) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let readAt = -Infinity
    const read = async (): Promise<void> => {
      timer = undefined
      readAt = Date.now()
      const answer = await sgw.overview(24).catch(() => null)
      if (answer === null) return
      overview.value = answer
      noteTrouble(answer)
    }
    const ignore = onEvent(() => {
      timer ??= setTimeout(() => void read(), Math.max(1000, readAt + READ_EVERY_MS - Date.now()))
    })
    void read()
    return () => {
      ignore()
      clearTimeout(timer)
    }
  }, [sgw])
  return overview.value
}

function noteTrouble({ queued, scheduled }: Overview): void {
  const waits = queued - scheduled
  const { messages: _, ...others } = troubles.value
  troubles.value = waits > 0 ? { ...others, messages: { count: waits, kind: 'warn', word: 'waiting' } } : others
}
