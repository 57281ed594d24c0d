import { useEffect, useMemo } from 'preact/hooks'
import type { Sgw } from '../../../client/client.ts'
import { isCancelled } from '../messages/words.ts'
import { client } from '../state/caller.ts'
import { keepReading } from '../state/keep-reading.ts'
import type { LiveEvent } from '../state/live-event.ts'
import { type Standing, standing } from '../state/standing.ts'
import { failedIn } from './facts-of.ts'

/** Both are read again after events, at most this often; sooner while there are no messages, and after the first trouble. */
const READ_EVERY_MS = 30_000

/**
 * The current state; null until it is known, or while `isDue` is false. If it cannot be read, the list says that the gateway does not answer.
 */
export function useStanding(isDue = true): Standing | null {
  const sgw = isDue ? client.value : null
  const reading = useMemo(
    () => sgw && keepReading({ read: () => readStanding(sgw), afterEventMs: READ_EVERY_MS, isSoon }),
    [sgw],
  )
  useEffect(() => () => reading?.stop(), [reading])
  const known = reading?.value.value ?? null
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
export async function readStanding(sgw: Sgw): Promise<Standing> {
  const readAt = Date.now()
  const [overview, extensions] = await Promise.all([sgw.overview(24, 'nextAttempt'), sgw.connection.health()])
  return { overview, extensions, readAt }
}

/** Whether an event changes the headline so much that it must be read immediately. */
export const isSoon = (known: Standing | null, event: LiveEvent): boolean =>
  isEmpty(known) || (isBad(event) && isFine(known))

const isEmpty = (known: Standing | null): boolean =>
  known !== null && known.overview.totals.accepted + known.overview.totals.received === 0

const isFine = (known: Standing | null): boolean =>
  known !== null && failedIn(known.overview.totals) + known.overview.totals.undelivered === 0

const isBad = (event: LiveEvent): boolean =>
  (event.type === 'sms_status' && event.status === 'failed' && !isCancelled(event.error)) ||
  (event.type === 'sms_delivery' && event.deliveryStatus === 'undelivered')
