import { DAY_MS } from '../../core/limits.ts'
import type { Topic } from '../../db/schema/connections.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import { nameOf } from '../../provider/extension-rows.ts'
import { hasReadableThreads } from '../../provider/inbound-source.ts'
import type { InboundSubscriptions } from '../../provider/inbound-subscriptions.ts'
import { isAboutAddress } from '../../provider/provider-subscription.ts'
import { deleteSubscriptions, hasSubscriptions, type TopicKey } from '../../provider/subscription-rows.ts'
import type { Gateway } from '../gateway.ts'
import { hasRoom } from '../inbound/fill-threads.ts'
import type { AccountConsents } from '../opt-outs/account-consents.ts'

const AGAIN_MS = 15_000

/** A subscription besides the one for messages. Its topic is also read without it. */
interface SideTopic {
  topic: Exclude<Topic, 'messages'>
  subscriptions: InboundSubscriptions
  /** Call it when there was no subscription for a while. */
  missed: (row: ExtensionRow) => void
  /** One that is refused is asked for again after a day, or when the extension is connected again. Absent: as the subscriptions plan it. */
  refusals?: AccountConsents['eventRefusals']
}

const threadsOf = ({ threadSubscriptions, threads }: Gateway): SideTopic => ({
  topic: 'threads',
  subscriptions: threadSubscriptions,
  missed: (row) => threads.changed(row),
})

const consentsOf = ({ consentSubscriptions, consents }: Gateway): SideTopic => ({
  topic: 'consents',
  subscriptions: consentSubscriptions,
  missed: (row) => consents.changed(row),
  refusals: consents.eventRefusals,
})

/**
 * Keeps a subscription for message-thread events alive if the extension may read its threads, and one for consent events if it reads its
 * account's consents. Ends them otherwise.
 */
export async function ensureSideSubscriptions(gateway: Gateway, row: ExtensionRow): Promise<void> {
  const { directory, clock, consents } = gateway
  const tenant = await directory.tenant(row.tenantId)
  await keep(gateway, row, threadsOf(gateway), hasReadableThreads(directory, tenant, row, clock.now()))
  const isReader = consents.isReader(row)
  // A subscription from an earlier start stays until it is known which extension reads them.
  if (isReader !== null) await keep(gateway, row, consentsOf(gateway), isReader)
}

/** Without a subscription the next reading still comes, so a refusal is only logged. */
async function keep(gateway: Gateway, row: ExtensionRow, side: SideTopic, isWanted: boolean): Promise<void> {
  if (!isWanted) return remove(gateway, row, side)
  const { log, database } = gateway
  const { topic, subscriptions, refusals } = side
  const now = gateway.clock.monotonic()
  const refused = refusals?.get(nameOf(row))
  if (refused !== undefined && refused.connectedAt === row.connectedAt && now - refused.at < DAY_MS) return
  const { tenantId, extensionId } = row
  const isNew = !(await hasSubscriptions(database.orm, { tenantId, extensionId, topic }))
  // Creating a subscription counts for the limit of sends.
  if (isNew && !hasRoom(gateway, row)) return subscriptions.planned(row, AGAIN_MS, false)
  const ensured = await subscriptions.ensure(row)
  const failure = subscriptions.refusal(row)
  if (ensured === 'failed' && failure !== null)
    log.warn({ tenantId, extensionId, topic, status: failure.status, code: failure.code }, 'no events of this topic')
  // An address that cannot be reached says nothing of this topic, and may be reachable in a minute.
  if (ensured === 'failed' && failure?.reason === 'rejected' && !isAboutAddress(failure))
    refusals?.set(nameOf(row), { at: now, connectedAt: row.connectedAt })
  if (ensured === 'created') side.missed(row)
}

/** Ends the subscriptions for events of message threads and consents, if there are any. */
export async function removeSideSubscriptions(gateway: Gateway, row: ExtensionRow): Promise<void> {
  await remove(gateway, row, threadsOf(gateway))
  await remove(gateway, row, consentsOf(gateway))
}

async function remove(
  { database, subscriptionTokens }: Gateway,
  { tenantId, extensionId }: ExtensionRow,
  { topic, subscriptions }: SideTopic,
): Promise<void> {
  const key: TopicKey = { tenantId, extensionId, topic }
  if (!(await hasSubscriptions(database.orm, key))) return
  await subscriptions.remove(key)
  await deleteSubscriptions(database.orm, key)
  subscriptionTokens.forget()
}
