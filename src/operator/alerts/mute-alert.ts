import { apiError } from '../../core/errors.ts'
import type { Mute } from '../../core/firing-alert.ts'
import { MAX_MUTE_MS } from '../../core/limits.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { traitsOf } from '../conditions/traits.ts'
import { type Muted, fires, isSame, untilText } from './mutes.ts'

/** Who mutes: a session, or null for a command on this machine. */
type SessionId = string | null

/**
 * Mutes a firing alert, and replaces its earlier mute. Errors: `badUntil`, `alertNotMutable`, `alertNotFound` if it does not fire for that
 * subject.
 */
export async function muteAlert(
  { alerts, clock, log }: Gateway,
  { alert, subject, until }: Muted & Pick<Mute, 'until'>,
  sessionId: SessionId,
): Promise<{ ok: true }> {
  const now = clock.now()
  if (until !== null && (until <= now || until > now + MAX_MUTE_MS)) throw apiError('badUntil')
  if (traitsOf(alert).isAlwaysTold) throw apiError('alertNotMutable')
  // If that fails, the last checks count.
  await alerts.check().catch(() => undefined)
  if (!fires({ alert, subject }, alerts.firing)) throw apiError('alertNotFound')
  const mute: Mute = { alert, subject, until, by: sessionId === null ? 'cli' : 'session' }
  await alerts.setMutes((mutes) => [...mutes.filter((one) => !isSame(one, mute)), mute])
  log.audit({ alert, subject, until: untilText(mute), session: sessionId ?? 'socket' }, 'an alert was muted')
  return { ok: true }
}

/** Ends a mute. Does nothing to an alert that is not muted. */
export async function unmuteAlert({ alerts, log }: Gateway, muted: Muted, sessionId: SessionId): Promise<{ ok: true }> {
  if (!alerts.mutes.some((one) => isSame(one, muted))) return { ok: true }
  await alerts.setMutes((mutes) => mutes.filter((one) => !isSame(one, muted)))
  log.audit({ ...muted, session: sessionId ?? 'socket' }, 'the mute of an alert was ended')
  return { ok: true }
}
