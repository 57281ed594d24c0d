import { atMost } from '../../core/at-most.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { ExtensionKey } from '../../provider/extension-rows.ts'
import type { Ensured } from '../../provider/inbound-subscriptions.ts'
import { NO_NUMBER } from '../../provider/numbers.ts'
import type { TokenPair } from '../../provider/grants.ts'
import type { ProviderExtension, ProviderFailure, Step } from '../../provider/provider.ts'
import { noteRefusal } from '../../provider/refusals.ts'
import { endSession } from '../../provider/replaced-sessions.ts'
import { endReplacedSessions } from '../../messages/upkeep/extensions.ts'
import { type ConnectedBy, storeExtension } from './store-extension.ts'

/** The result of an authorization. Only `connected` stored anything. */
export type ConnectResult =
  | {
      type: 'connected'
      extensionId: string
      tenantId: string
      name: string
      phoneNumbers: string[]
      receiving: boolean
      /** How to fix each refusal of the provider, one sentence each. */
      fixes: string[]
    }
  | { type: 'exchange_failed'; failure: ProviderFailure; fix: string }
  | { type: 'other_account' }
  | { type: 'tenant_not_active' }

/** The tenant that authorizes, and its request. */
export interface AuthorizationContext {
  tenantId: string
  requestId: string
}

/**
 * Connects the extension of a new session, regardless of its grant: stores the tokens, reads the numbers and creates the subscription. The
 * extension is connected once its tokens are stored. Steps that fail after that are retried in the background.
 */
export async function finishConnect(
  gateway: Gateway,
  context: AuthorizationContext,
  pair: TokenPair,
  by: ConnectedBy,
): Promise<ConnectResult> {
  const { tenantId } = context
  gateway.quota.countAuth(pair.ownerId)
  const extension = await gateway.provider.getExtension(pair.accessToken)
  if (!extension.ok) {
    await endSession(gateway, pair.ownerId, pair.refreshToken ?? pair.accessToken)
    return exchangeFailed(gateway, context, 'jwt' in by ? 'jwt' : 'extension', extension.failure)
  }
  for (const step of ['authorization', 'extension'] as const)
    gateway.directory.refusals.clear({ tenantId, extensionId: null }, step)
  if (await storeExtension(gateway, tenantId, extension.value, pair, by))
    return startUsing(gateway, context, extension.value)
  await endSession(gateway, pair.ownerId, pair.refreshToken ?? pair.accessToken)
  return notStored(gateway, context)
}

/** `seen`: what else is known about the cause, as a sentence. */
export function exchangeFailed(
  gateway: Gateway,
  { tenantId, requestId }: AuthorizationContext,
  step: Step,
  failure: ProviderFailure,
  seen: string | null = null,
): ConnectResult {
  const fix = noteRefusal(gateway, { tenantId, extensionId: null, step, failure, seen }, requestId)
  return { type: 'exchange_failed', failure, fix }
}

/** Why nothing was stored: the tenant is not active, or another account is connected. */
async function notStored(gateway: Gateway, { tenantId, requestId }: AuthorizationContext): Promise<ConnectResult> {
  const { status } = await gateway.directory.tenant(tenantId)
  const why = status === 'active' ? 'other_account' : 'tenant_not_active'
  gateway.log.warn({ requestId, tenantId, why }, 'authorization refused')
  return { type: why }
}

/** Reads the numbers, wakes the messages that wait for this extension, and creates the subscription. */
async function startUsing(
  gateway: Gateway,
  { tenantId, requestId }: AuthorizationContext,
  extension: ProviderExtension,
): Promise<ConnectResult> {
  const key = { tenantId, extensionId: extension.extensionId }
  gateway.directory.refusals.forget(key)
  const fixes: string[] = []
  const note = (step: Step, failure: ProviderFailure): unknown =>
    fixes.push(noteRefusal(gateway, { ...key, step, failure }, requestId))
  const numbers = await gateway.numbers.read(key)
  if (numbers.type === 'failed') note('numbers', numbers.failure)
  if (numbers.type === 'ok' && numbers.value.length === 0) note('numbers', NO_NUMBER)
  gateway.sending.wake(tenantId)
  for (const kind of ['lookup', 'back_fill'] as const) gateway.jobs.wake(kind, extension.extensionId, tenantId, 0)
  const ensured = await subscribed(gateway, key)
  await endReplacedSessions(gateway, key)
  const receiving = ensured === 'kept' || ensured === 'created'
  const refusal = receiving ? null : gateway.subscriptions.refusal(key)
  if (refusal !== null) note('subscription', refusal)
  gateway.log.audit({ requestId, tenantId, extensionId: extension.extensionId, receiving }, 'extension connected')
  return {
    type: 'connected',
    tenantId,
    extensionId: extension.extensionId,
    name: extension.name ?? extension.extensionNumber ?? extension.extensionId,
    phoneNumbers: numbers.type === 'ok' ? numbers.value.map(({ number }) => number) : [],
    receiving,
    fixes: [...new Set(fixes)],
  }
}

/**
 * `waiting` if it takes long: if a thousand extensions' sockets cannot be opened, they are tried a few at a time. It continues in the
 * background.
 */
async function subscribed({ subscriptions, config }: Gateway, key: ExtensionKey): Promise<Ensured> {
  const run = { ensured: 'waiting' as Ensured }
  const ensuring = subscriptions.ensure(key).then((ensured) => (run.ensured = ensured))
  // It may reject while somebody waits, or when nobody does anymore.
  ensuring.catch(() => undefined)
  await atMost(2 * config.providerTimeoutMs, ensuring)
  return run.ensured
}
