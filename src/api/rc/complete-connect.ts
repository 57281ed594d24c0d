import { and, eq, sql } from 'drizzle-orm'
import { jobs } from '../../db/schema/jobs.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { type ExtensionKey, connectExtension } from '../../provider/extension-rows.ts'
import type { ProviderExtension, ProviderFailure, Step, TokenPair } from '../../provider/provider.ts'
import { NO_NUMBER } from '../../provider/numbers.ts'
import { noteRefusal } from '../../provider/refusals.ts'
import { redirectUri } from './connect.ts'
import { type ConsumedState, consumeState, logRefusedState, markConnected } from './oauth-state.ts'

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
  | { type: 'bad_state' }
  /** By an earlier callback with the same state. */
  | { type: 'connected_before' }
  | { type: 'exchange_failed'; fix: string }
  | { type: 'other_account' }

/** The fields of the provider's redirect. */
export interface CallbackInput {
  code: string
  state: string
  /** Id of this request, for the log. */
  requestId: string
}

/**
 * Finishes an authorization: exchanges the code, stores the tokens, reads the numbers and creates the subscription. The
 * extension is connected once its tokens are stored. Steps that fail after that are tried again in the background.
 */
export async function completeConnect(
  gateway: Gateway,
  { code, state, requestId }: CallbackInput,
): Promise<ConnectResult> {
  const consumed = await consumeState(gateway, state)
  if (consumed === null) {
    const hasConnected = await logRefusedState(gateway, state, requestId)
    return { type: hasConnected ? 'connected_before' : 'bad_state' }
  }
  const { tenantId, codeVerifier } = consumed
  const exchanged = await gateway.provider.exchangeCode({ code, codeVerifier, redirectUri: redirectUri(gateway) })
  if (!exchanged.ok) return exchangeFailed(gateway, { tenantId, requestId }, 'authorization', exchanged.failure)
  const extension = await gateway.provider.getExtension(exchanged.value.accessToken)
  if (!extension.ok) {
    await gateway.provider.revoke(exchanged.value.refreshToken)
    return exchangeFailed(gateway, { tenantId, requestId }, 'extension', extension.failure)
  }
  for (const step of ['authorization', 'extension'] as const)
    gateway.directory.refusals.clear({ tenantId, extensionId: null }, step)
  if (await storeExtension(gateway, consumed, extension.value, exchanged.value))
    return startUsing(gateway, { tenantId, requestId }, extension.value)
  await gateway.provider.revoke(exchanged.value.refreshToken)
  return notStored(gateway, { tenantId, requestId })
}

/** The tenant that authorizes, and the request in which it does. */
interface AuthorizationContext {
  tenantId: string
  requestId: string
}

function exchangeFailed(
  gateway: Gateway,
  { tenantId, requestId }: AuthorizationContext,
  step: Step,
  failure: ProviderFailure,
): Extract<ConnectResult, { type: 'exchange_failed' }> {
  return {
    type: 'exchange_failed',
    fix: noteRefusal(gateway, { tenantId, extensionId: null, step, failure }, requestId),
  }
}

/** False if the tenant is no longer active, or is connected to another account. */
async function storeExtension(
  gateway: Gateway,
  state: ConsumedState,
  extension: ProviderExtension,
  pair: TokenPair,
): Promise<boolean> {
  const { tenantId } = state
  const key = { tenantId, extensionId: extension.extensionId }
  const previous = await gateway.directory.extension(tenantId, extension.extensionId)
  const encrypted = await gateway.tokens.encrypt(key, pair)
  const { orm } = gateway.database
  const [connected] = await orm
    .batch([
      connectExtension(orm, { ...extension, ...key, ...encrypted, now: gateway.clock.now() }),
      markConnected(gateway.database, state, encrypted.refreshToken),
      insertBackFill(gateway, key, encrypted.refreshToken),
      hastenLookup(gateway, key),
    ])
    // Also after a failure: the commit may have succeeded all the same, and then the extension is connected.
    .finally(() => gateway.directory.forget(tenantId))
  if (connected.length !== 1) return false
  if (previous !== null) await endSession(gateway, await gateway.tokens.decryptRefresh(previous).catch(() => null))
  return true
}

/** Creates the job of the first back-fill if this authorization was stored. */
function insertBackFill({ database, clock, ids }: Gateway, { tenantId, extensionId }: ExtensionKey, token: string) {
  const dueAt = Math.ceil(clock.steady())
  return database.orm.run(
    sql`INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at)
      SELECT ${ids.of('job')}, 'back_fill', ${extensionId}, ${tenantId}, ${extensionId}, ${dueAt}, ${clock.now()}
      WHERE EXISTS (SELECT 1 FROM extensions
        WHERE tenant_id = ${tenantId} AND extension_id = ${extensionId} AND refresh_token = ${token})`,
  )
}

/** A lookup may be waiting for this authorization. The kind is a literal, because an index on jobs is for some kinds only. */
const hastenLookup = ({ database, clock }: Gateway, { tenantId, extensionId }: ExtensionKey) =>
  database.orm
    .update(jobs)
    .set({ dueAt: sql`min(${jobs.dueAt}, ${Math.floor(clock.steady())})` })
    .where(and(eq(jobs.tenantId, tenantId), eq(jobs.lane, extensionId), eq(jobs.kind, sql`'lookup'`)))

/** Ends the session that the new one replaces. The provider allows five, and ends the oldest without notice. */
async function endSession(gateway: Gateway, refreshToken: string | null): Promise<void> {
  if (refreshToken !== null) await gateway.provider.revoke(refreshToken)
}

/** Why nothing was stored: the tenant is not active, or another account is connected. */
async function notStored(gateway: Gateway, { tenantId, requestId }: AuthorizationContext): Promise<ConnectResult> {
  const { status } = await gateway.directory.tenant(tenantId)
  const why = status === 'active' ? 'other_account' : 'tenant_not_active'
  gateway.log.warn({ requestId, tenantId, why }, 'authorization refused')
  return { type: why === 'other_account' ? why : 'bad_state' }
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
  const ensured = await gateway.subscriptions.ensure(key)
  const receiving = ensured === 'kept' || ensured === 'created'
  const refusal = ensured === 'failed' ? gateway.subscriptions.refusal(key) : null
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
