import { MESSAGE_ERRORS } from '../../core/errors.ts'
import { MAX_SENDS_IN_FLIGHT } from '../../core/limits.ts'
import { sha256Hex } from '../../core/secrets.ts'
import type { Gateway } from '../../gateway.ts'
import { DONE, type Job, type JobKind, type JobOutcome } from '../../jobs/job.ts'
import { adoptFirstAttempts } from './adopt.ts'
import { CLAIM } from './attempt-rows.ts'
import { callProvider } from './call-provider.ts'
import { type OutboundMessage, loadOutbound, tryingLeftMs } from './outbound-message.ts'
import { dropJob, giveUp, handOver } from './record-result.ts'
import { numberOfLane } from './send-lane.ts'
import { publishStatus } from './publish-status.ts'
import { windowBound } from './window-bound.ts'

/** The `send` job: one per message that waits to be sent or is tried again; its lane is the `from` number (send-lane.ts). */
export function sendJobs(gateway: Gateway): JobKind<OutboundMessage> {
  const bound = windowBound(gateway)
  return {
    name: 'send',
    get maxInFlight() {
      return gateway.sendPlaces.max
    },
    get maxPerLane() {
      return gateway.sendPlaces.maxUnqueued
    },
    get maxUnqueued() {
      return gateway.sendPlaces.maxUnqueued
    },
    maxReady: MAX_READY,
    room: (lane, tenantId) =>
      gateway.directory.isDisconnected(tenantId) ? ROOM_TO_FAIL : gateway.quota.fromRoom(numberOfLane(lane)),
    discover: async () => {
      await adoptFirstAttempts(gateway)
      await bound.move()
    },
    load: (ids) => loadOutbound(gateway, ids),
    run: (job, message) => deliver(gateway, job, message),
  }
}

/** As many as a reading takes some milliseconds for. A claim finds out what has changed meanwhile. */
const MAX_READY = 128
/** What can only fail need not wait for its number's window. */
const ROOM_TO_FAIL = { jobs: MAX_SENDS_IN_FLIGHT, waitMs: 0 }
/** How long a lane waits at a time: what is repeated in it must not miss its end. What it waits for can end the wait at once. */
const MAX_HOLD_MS = 30_000
/** How long others of the extension wait at a time while its token is refreshed. */
const REFRESH_RUNS_MS = 1000
/** How long a message waits when one with the same text is on its way to the same number. */
const SAME_TEXT_MS = 1000

/** Brings a message one step on: claims it and calls the provider, or says what it waits for. */
async function deliver(gateway: Gateway, job: Job, message: OutboundMessage): Promise<JobOutcome> {
  if (message.status !== 'queued' && message.status !== 'sending') return dropJob(gateway, job)
  if (message.attempt?.outcome === null) return handOver(gateway, job, message, message.attempt, null)
  const expired = expiry(gateway, message)
  if (expired !== null) return giveUp(gateway, job, message, expired)
  const tenant = await gateway.directory.tenant(message.tenantId)
  if (tenant.status !== 'active') return { type: 'hold', delayMs: MAX_HOLD_MS }
  const sender = await asking(gateway, () => gateway.numbers.senderOf(message.tenantId, message.from))
  if (sender.type === 'failed') return giveUp(gateway, job, message, sender.error)
  if (sender.type === 'waiting') return wait(gateway, message, sender.retryInMs)
  return attempt(gateway, job, message, sender.extensionId)
}

/** The provider may have to be asked: who waits for it leaves its place to others, as a send does. */
async function asking<T>(gateway: Gateway, ask: () => Promise<T>): Promise<T> {
  const place = gateway.sendPlaces.enter()
  try {
    return await ask()
  } finally {
    place.leave()
  }
}

/** Why the message may not be sent any more, or null. */
function expiry(gateway: Gateway, message: OutboundMessage): string | null {
  const { firstAttemptAt, createdAt } = message
  const old =
    firstAttemptAt === null
      ? gateway.clock.now() - createdAt > gateway.config.maxQueueAgeMs
      : tryingLeftMs(message, gateway.clock.steady()) === 0
  return old ? MESSAGE_ERRORS.expired : null
}

/** A first send waits at the head of its lane; a repeated one lets others of its number pass, and its own time runs. */
function wait(gateway: Gateway, message: OutboundMessage, delayMs: number): JobOutcome {
  if (message.status === 'queued') return { type: 'hold', delayMs: Math.min(delayMs, MAX_HOLD_MS) }
  return { type: 'snooze', delayMs: Math.min(delayMs, tryingLeftMs(message, gateway.clock.steady())) }
}

async function attempt(gateway: Gateway, job: Job, message: OutboundMessage, extensionId: string): Promise<JobOutcome> {
  const key = { tenantId: message.tenantId, extensionId }
  // One waits for all of the extension; the others leave their places, and look again.
  if (gateway.tokens.isRefreshing(key)) return wait(gateway, message, REFRESH_RUNS_MS)
  const token = await asking(gateway, () => gateway.tokens.access(key))
  if (token.type === 'gone') return giveUp(gateway, job, message, MESSAGE_ERRORS.revoked)
  if (token.type === 'waiting') return wait(gateway, message, token.retryInMs)
  if (gateway.directory.isClosed(message.tenantId)) return giveUp(gateway, job, message, MESSAGE_ERRORS.notConnected)
  const place = gateway.quota.take(message.from, extensionId)
  if (!place.ok) return wait(gateway, message, place.waitMs)
  const attemptId = gateway.ids.of('att')
  let claimed = false
  try {
    claimed = await claim(gateway, message, extensionId, attemptId)
  } finally {
    if (!claimed) gateway.quota.giveBack(message.from, extensionId, place.mark)
  }
  if (!claimed) return { type: 'snooze', delayMs: SAME_TEXT_MS }
  const number = (message.attempt?.number ?? 0) + 1
  await callProvider(gateway, job, message, { id: attemptId, extensionId, number }, place.mark)
  return DONE
}

/** Commits the attempt. False when the message has moved on, its tenant is held, or its text is on its way already. */
async function claim(
  gateway: Gateway,
  message: OutboundMessage,
  extensionId: string,
  attemptId: string,
): Promise<boolean> {
  const now = gateway.clock.now()
  const rows = await gateway.database.writer.row(CLAIM, {
    attemptId,
    messageId: message.id,
    tenantId: message.tenantId,
    extensionId,
    from: message.from,
    to: message.to,
    textHash: sha256Hex(message.body),
    number: (message.attempt?.number ?? 0) + 1,
    bootId: gateway.bootId,
    now,
    startedAt: gateway.clock.steady(),
    previousAttemptId: message.attempt?.id ?? null,
  })
  const [opened] = rows
  if (opened === undefined) return false
  gateway.mark.noteAttempt(Number(opened['seq']))
  if (message.status === 'queued') publishStatus(gateway, message, 'sending', now)
  return true
}
