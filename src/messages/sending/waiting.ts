import { type Clock, isoTime } from '../../core/clock.ts'
import type { WaitingReason } from '../../core/waiting-reasons.ts'
import type { ExtensionRow, TenantEntry } from '../../provider/directory.ts'
import { SEND_GROUP } from '../../provider/quota.ts'
import { msUntilRefresh } from '../../provider/refresh-policy.ts'
import type { SendingContext } from './context.ts'
import type { SendEngine } from './engine.ts'
import type { ExtensionTurns } from './extension-turns.ts'
import type { MediaCalls } from './media-calls.ts'
import type { Entry } from './number-queue.ts'
import { type Sender, extensionFor, senderOf } from './sending-extension.ts'

export interface Waiting {
  reason: WaitingReason
  /** When the reason ends, epoch milliseconds; null if unknown. */
  until: number | null
  /** When the pause or the outage began, epoch milliseconds; null or absent if there is none, or if unknown. */
  began?: number | null
}

/** The tenant and the number of a message. */
type SenderOfMessage = Pick<WaitingMessage, 'tenantId' | 'from'>

/** A message that is `queued` or `sending`. */
export interface WaitingMessage {
  id: string
  tenantId: string
  from: string
  to: string
  /** Epoch milliseconds; null if it is not scheduled. */
  sendAt: number | null
}

/** Returns why a message waits, from the scheduler's state; null if its call is in progress or about to start. */
async function waitingOf(engine: SendEngine, message: WaitingMessage): Promise<Waiting | null> {
  const { context, scheduler } = engine
  const tenant = await context.directory.tenant(message.tenantId)
  const entry = scheduler.entries.get(message.id) ?? null
  if (isUnderWay(entry)) return null
  const queue = scheduler.queues.known(message.tenantId, message.from)
  // The newest messages of a long queue are only in the job table.
  const isNext = queue === null || (entry !== null && entry === scheduler.nextOf(queue))
  return reasonInMessage(context.clock, message, tenant) ?? reasonInQueue(engine, message, entry, isNext)
}

/** The same for a message of this status, in the form of answers. */
export async function shownWaiting(
  engine: SendEngine,
  status: unknown,
  message: WaitingMessage,
): Promise<{ reason: WaitingReason; until?: string } | null> {
  if (status !== 'queued' && status !== 'sending') return null
  const waiting = await waitingOf(engine, message)
  if (waiting === null) return null
  return { reason: waiting.reason, ...(waiting.until === null ? {} : { until: isoTime(waiting.until) }) }
}

/** Whether an entry's call is in progress, or its attempt is being opened. */
export function isUnderWay(entry: Entry | null): boolean {
  if (entry === null || entry.isQuarantined || !entry.queue.busy.has(entry)) return false
  return entry.attempt === null || entry.attempt.absentAfter === null
}

/** The reason in the message or its tenant; null if there is none. */
function reasonInMessage(clock: Clock, { sendAt }: WaitingMessage, tenant: TenantEntry): Waiting | null {
  if (tenant.status !== 'active') return { reason: 'suspended', until: null }
  if (sendAt !== null && sendAt > clock.now()) return { reason: 'scheduled', until: sendAt }
  return null
}

/**
 * The reason in the queue, the extension or the provider. `entry` is null if the message is not in memory.
 * `isNext`: it is the next one of its queue.
 */
export function reasonInQueue(
  { context, scheduler }: SendEngine,
  { tenantId, from }: SenderOfMessage,
  entry: Entry | null,
  isNext: boolean,
): Waiting | null {
  if (entry?.isQuarantined === true) return quarantineReason(context.clock, entry)
  const tenant = context.directory.known(tenantId)
  const extensionId = tenant === undefined ? null : extensionFor(tenant, from, entry?.movedNumber)
  const sender = senderOf(context, tenantId, from, entry?.movedNumber)
  const extension = tenant?.extensions.get(extensionId ?? '')
  // During a pause of logins, the old token is used.
  if (extension?.status === 'refresh_failed' && sender.type !== 'ready')
    return { reason: 'reauthorization', until: null, began: extension.statusSince }
  // While the outcome is unknown, the message does not wait for a number lookup.
  if ((entry?.attempt ?? null) !== null) return { reason: 'reconciling', until: null }
  if (awaitsNumberLookup(sender, entry) || awaitsMediaLookup(scheduler.mediaCalls, entry))
    return { reason: 'number_lookup', until: null }
  if (extension === undefined || extensionId === null) return null
  if (sender.type === 'wait' && sender.reason === 'token') return tokenReason(context.clock, extension)
  return (
    reasonAtProvider(context, scheduler.extension(extensionId), entry) ??
    reasonOfTurn(context, from, isNext, extensionId)
  )
}

/** A lookup can decide once the settle time is over. */
const quarantineReason = (clock: Clock, { attempt }: Entry): Waiting => ({
  reason: 'restore',
  until: timeAfter(clock, (attempt?.absentAfter ?? 0) - clock.steady()),
})

/** The token has expired: it is being refreshed, or was fetched so recently that it may not be refreshed again yet. */
const tokenReason = (clock: Clock, extension: ExtensionRow): Waiting => ({
  reason: 'reauthorization',
  until: timeAfter(clock, msUntilRefresh(extension, clock.now())),
})

/** Whether a number lookup must find the extension first: none has the number, or it has moved. */
const awaitsNumberLookup = (sender: Sender, entry: Entry | null): boolean =>
  sender.type === 'missing' ||
  (sender.type === 'ready' && entry?.movedNumber?.extensionIds.includes(sender.extensionId) === true)

/** Whether a number lookup must first find out whether its number may send media. */
const awaitsMediaLookup = (mediaCalls: MediaCalls, entry: Entry | null): boolean =>
  entry?.hasMedia === true && mediaCalls.maySend(entry) === null

function reasonAtProvider(
  { clock, quota }: SendingContext,
  { extensionId, consecutiveFailures, failingSince }: ExtensionTurns,
  entry: Entry | null,
): Waiting | null {
  const pauseMs = quota.pauseMs(extensionId, SEND_GROUP)
  const holdMs = (entry?.heldUntil ?? 0) - clock.monotonic()
  if (holdMs > 0)
    return { reason: 'provider_unreachable', until: timeAfter(clock, holdMs), began: entry?.heldSince ?? null }
  if (consecutiveFailures > 0)
    return { reason: 'provider_unreachable', until: timeAfter(clock, pauseMs), began: failingSince }
  if (pauseMs === 0) return null
  const began = quota.pauseBegan(extensionId, SEND_GROUP)
  return { reason: 'provider_paused', until: timeAfter(clock, pauseMs), began }
}

function reasonOfTurn(
  { clock, quota }: SendingContext,
  from: string,
  isNext: boolean,
  extensionId: string,
): Waiting | null {
  if (!isNext) return { reason: 'order', until: null }
  const numberMs = quota.numberWaitMs(from)
  if (numberMs > 0) return { reason: 'number_limit', until: timeAfter(clock, numberMs) }
  const extensionMs = quota.extensionWaitMs(extensionId)
  return extensionMs > 0 ? { reason: 'extension_limit', until: timeAfter(clock, extensionMs) } : null
}

/** Epoch milliseconds; null if nothing is left to wait for. */
const timeAfter = (clock: Clock, ms: number): number | null => (ms > 0 ? Math.ceil(clock.now() + ms) : null)
