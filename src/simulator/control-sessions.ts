import { checked, JwtShape, type NewJwt } from './arguments.ts'
import { findExtension } from './control-extensions.ts'
import type { SessionView, SubscriptionView } from './control-views.ts'
import type { Session } from './sessions.ts'
import type { Subscription } from './subscription-book.ts'
import type { World } from './world.ts'

/** The control knobs for logins, tokens and subscriptions. */
export function sessionKnobs(world: World) {
  const { sessions, jwts, logins, clock } = world

  const sessionsOf = (extensionId: string | undefined): Session[] =>
    sessions.list().filter((one) => extensionId === undefined || String(one.extensionId) === extensionId)

  function revokeTokens({ extensionId }: { extensionId: string }): { ended: number } {
    const open = sessionsOf(extensionId)
    for (const session of open) sessions.end(session)
    return { ended: open.length }
  }

  function expireTokens(owner: { extensionId: string; which?: 'access' | 'refresh' | 'both' }): { expired: number } {
    const open = sessionsOf(owner.extensionId)
    const which = owner.which ?? 'access'
    for (const { current } of open) {
      if (which !== 'refresh') current.accessExpiresAt = clock.now()
      if (which !== 'access') current.refreshExpiresAt = clock.now()
    }
    return { expired: open.length }
  }

  function addJwt(credential: NewJwt): { jwt: string } {
    const { extensionId, clientId, expiresInSeconds } = checked(JwtShape, credential)
    const { id } = findExtension(world, extensionId)
    const expiresAt = expiresInSeconds === undefined ? null : clock.now() + expiresInSeconds * 1000
    return { jwt: jwts.add({ extensionId: id, clientId: clientId ?? null, expiresAt }) }
  }

  function removeJwt({ jwt }: { jwt: string }): { removed: number } {
    if (!jwts.remove(jwt)) throw new Error('Unknown JWT')
    return { removed: 1 }
  }

  return {
    nextLogin: ({ extensionId }: { extensionId: string }) => void logins.push(findExtension(world, extensionId).id),
    denyNextLogin: ({ calls = 1 }: { calls?: number } = {}) => void logins.push(...Array<'deny'>(calls).fill('deny')),
    addJwt,
    removeJwt,
    sessions: ({ extensionId }: { extensionId?: string } = {}) => sessionsOf(extensionId).map(sessionView),
    revokeTokens,
    expireTokens,
    ...subscriptionKnobs(world),
  }
}

function subscriptionKnobs({ subscriptions, clock }: World) {
  function findSubscription(subscriptionId: string): Subscription {
    const subscription = subscriptions.get(subscriptionId)
    if (subscription === undefined) throw new Error(`Unknown subscription ${subscriptionId}`)
    return subscription
  }

  return {
    subscriptions: ({ extensionId }: { extensionId?: string } = {}) =>
      subscriptions
        .all()
        .filter((one) => extensionId === undefined || String(one.extensionId) === extensionId)
        .map(subscriptionView),
    blacklistSubscription({ subscriptionId, reason }: { subscriptionId: string; reason?: string }): void {
      const words = reason ?? 'I/O operation is failed. Details: [Read timed out]'
      findSubscription(subscriptionId).blacklisted = { reason: words, at: clock.now() }
    },
    expireSubscription({ subscriptionId }: { subscriptionId: string }): void {
      const subscription = findSubscription(subscriptionId)
      // One of a socket would renew itself.
      if (subscription.socket === null) subscription.expiresAt = clock.now()
      else subscriptions.delete(subscription.id)
    },
    deleteSubscription({ subscriptionId }: { subscriptionId: string }): void {
      subscriptions.delete(findSubscription(subscriptionId).id)
    },
  }
}

const sessionView = ({ id, extensionId, current }: Session): SessionView => ({
  extensionId: String(extensionId),
  sessionId: id,
  accessToken: current.accessToken,
  refreshToken: current.refreshToken,
  accessExpiresAt: current.accessExpiresAt,
  refreshExpiresAt: current.refreshExpiresAt,
  used: current.usedAt !== null,
})

const subscriptionView = (subscription: Subscription): SubscriptionView => ({
  subscriptionId: subscription.id,
  extensionId: String(subscription.extensionId),
  status: subscription.blacklisted === null ? 'Active' : 'Blacklisted',
  eventFilters: subscription.eventFilters,
  transport: subscription.socket === null ? 'WebHook' : 'WebSocket',
  address: subscription.address,
  verificationToken: subscription.verificationToken,
  expiresAt: subscription.expiresAt,
})
