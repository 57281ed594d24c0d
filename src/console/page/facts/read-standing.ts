import { useEffect } from 'preact/hooks'
import { isCancelled } from '../messages/words.ts'
import { asApp, client } from '../state/caller.ts'
import { useReading } from '../state/keep-reading.ts'
import type { LiveEvent } from '../state/live-event.ts'
import { type Standing, standing } from '../state/standing.ts'
import { failedIn } from './facts-of.ts'

/** Both are read again after events, at most this often; sooner while there are no messages, and after the first trouble. */
const READ_EVERY_MS = 30_000

/**
 * The current state; null until it is known, or while `isDue` is false. If it cannot be read, the list says that the gateway does not answer.
 */
export function useStanding(isDue = true): Standing | null {
  const read = async (): Promise<Standing | null> => (isDue ? readStanding() : null)
  const known = useReading<Standing | null>({ read, afterEventMs: READ_EVERY_MS, isSoon }, [client.value, isDue]).value
    .value
  useShared(known)
  return known
}

/** Tells the rail what a view has read. */
export function useShared(known: Standing | null): void {
  useEffect(() => {
    if (known !== null) standing.value = known
  }, [known])
}

/** The figures of the last day, and the state of the extensions. */
export async function readStanding(): Promise<Standing> {
  const readAt = Date.now()
  const sgw = asApp()
  const [overview, extensions] = await Promise.all([sgw.overview(24, 'nextAttempt'), sgw.connection.health()])
  return { overview, extensions, readAt }
}

/** Whether an event changes the headline so much that it must be read immediately. */
export function isSoon(known: Standing | null, event: LiveEvent): boolean {
  if (known === null) return false
  const { totals } = known.overview
  return totals.accepted + totals.received === 0 || (failedIn(totals) + totals.undelivered === 0 && isBad(event))
}

const isBad = (event: LiveEvent): boolean =>
  (event.type === 'sms_status' && event.status === 'failed' && !isCancelled(event.error)) ||
  (event.type === 'sms_delivery' && event.deliveryStatus === 'undelivered')
