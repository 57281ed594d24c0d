import { DONE, type Job, type JobOutcome } from '../../jobs/job.ts'
import type { Reservation } from '../../jobs/reservation.ts'
import type { Gateway } from '../../gateway.ts'
import { sha256Hex } from '../../core/secrets.ts'
import type { BeginRow } from './accept-rows.ts'
import { callProvider } from './call-provider.ts'
import type { OutboundMessage } from './outbound-message.ts'
import { statusEvent } from './status-event.ts'

/** A first attempt that begins in the very commit that accepts its message: a commit less until the provider is called. */
export interface FirstAttempt {
  /** What the commit needs to know of it. */
  row: Pick<BeginRow, 'attemptId' | 'extensionId' | 'textHash' | 'bootId'>
  /** Its row was committed, with this `seq`. */
  begin(job: Job, message: OutboundMessage, seq: number): void
  /** It was not: places go back. */
  abandon(): void
}

/** Null unless everything that a call needs is known and free at this moment; the job's own run then waits for it. */
export function firstAttempt(gateway: Gateway, tenantId: string, from: string, body: string): FirstAttempt | null {
  const extensionId = gateway.numbers.readySender(tenantId, from)
  if (extensionId === null) return null
  const reservation = gateway.jobs.reserve('send', from, tenantId)
  if (reservation === null) return null
  const place = gateway.quota.take(from, extensionId)
  if (!place.ok) return (reservation.cancel(), null)
  const attemptId = gateway.ids.of('att')
  return {
    row: { attemptId, extensionId, textHash: sha256Hex(body), bootId: gateway.bootId },
    begin: (job, message, seq) => begin(gateway, reservation, job, message, { attemptId, extensionId, seq }),
    abandon: () => {
      gateway.quota.giveBack(from, extensionId, place.mark)
      reservation.cancel()
    },
  }
}

function begin(
  gateway: Gateway,
  reservation: Reservation,
  job: Job,
  message: OutboundMessage,
  attempt: { attemptId: string; extensionId: string; seq: number },
): void {
  // Inside of the run: what fails there is handed over to be settled, and the place comes back.
  reservation.begin(job, async (): Promise<JobOutcome> => {
    gateway.mark.noteAttempt(attempt.seq)
    gateway.hub.publish(statusEvent(message, 'sending', message.createdAt))
    await callProvider(gateway, job, message, { id: attempt.attemptId, extensionId: attempt.extensionId, number: 1 })
    return DONE
  })
}
