import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { client } from '../state/caller.ts'
import { onEvent } from '../state/live.ts'
import type { LiveEvent } from '../state/live-event.ts'
import { onReturn } from '../state/loading.ts'
import { isCancelled } from '../messages/words.ts'
import { type Standing, failedIn } from './facts-of.ts'

/** Both are read again after events, at most this often; soon while there are no messages, and after the first trouble. */
const READ_EVERY_MS = 30_000
const READ_FIRST_MS = 1000

/** How things stand; null until it is known. */
export function useStanding(): Standing | null {
  const standing = useSignal<Standing | null>(null)
  const sgw = client.value
  useEffect(() => {
    if (sgw === null) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let readAt = -Infinity
    const read = async (): Promise<void> => {
      timer = undefined
      readAt = Date.now()
      try {
        const [overview, extensions] = await Promise.all([sgw.overview(24), sgw.connection.health()])
        standing.value = { overview, extensions, readAt }
      } catch {
        // The list says that the gateway does not answer. What was known stays.
      }
    }
    const ignore = onEvent((event) => {
      const isEarly = isSoon(standing.peek(), event)
      if (isEarly) clearTimeout(timer)
      else if (timer !== undefined) return
      timer = setTimeout(() => void read(), Math.max(READ_FIRST_MS, isEarly ? 0 : readAt + READ_EVERY_MS - Date.now()))
    })
    const stay = onReturn(() => void read())
    void read()
    return () => {
      ignore()
      stay()
      clearTimeout(timer)
    }
  }, [sgw])
  return standing.value
}

/** Whether an event changes what is said so much that nobody should wait for it. */
export const isSoon = (standing: Standing | null, event: LiveEvent): boolean =>
  isEmpty(standing) || (isBad(event) && isFine(standing))

const isEmpty = (standing: Standing | null): boolean =>
  standing !== null && standing.overview.totals.accepted + standing.overview.totals.received === 0

const isFine = (standing: Standing | null): boolean =>
  standing !== null && failedIn(standing.overview.totals) + standing.overview.totals.undelivered === 0

const isBad = (event: LiveEvent): boolean =>
  (event.type === 'sms_status' && event.status === 'failed' && !isCancelled(event.error)) ||
  (event.type === 'sms_delivery' && event.deliveryStatus === 'undelivered')
