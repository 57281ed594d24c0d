import type { Orm } from '../db/orm.ts'
import type { ExtensionCalls } from './extension-calls.ts'
import type { ExtensionKey } from './extension-rows.ts'
import type { Provider } from './provider.ts'
import type { Quota } from './quota.ts'
import { readWebhooks } from './socket-rows.ts'
import { type TopicKey, deleteSubscription } from './subscription-rows.ts'

interface ReplacedContext {
  provider: Provider
  extensionCalls: ExtensionCalls
  quota: Quota
  orm: Orm
  /** Called after the commit that deleted rows. */
  changed(): void
}

/** Deletes the extension's webhook subscriptions from before its socket. Any that cannot be deleted now stay for the next call. */
export async function deleteWebhooks(context: ReplacedContext, key: TopicKey): Promise<void> {
  for (const { id, providerId } of await readWebhooks(context.orm, key)) {
    if (providerId !== null && !(await isDeleted(context, key, providerId))) continue
    await deleteSubscription(context.orm, key, id)
    context.changed()
  }
}

async function isDeleted(
  { provider, extensionCalls, quota }: ReplacedContext,
  key: ExtensionKey,
  providerId: string,
): Promise<boolean> {
  quota.count(key.extensionId)
  const deleted = await extensionCalls.make(key, 'medium', (token) => provider.deleteSubscription(token, providerId))
  return deleted.type === 'ok'
}
