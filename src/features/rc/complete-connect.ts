import type { Gateway } from '../../gateway.ts'
import { upsertExtension } from '../../provider/extension-rows.ts'
import type { ProviderExtension, TokenPair } from '../../provider/provider.ts'
import { redirectUri } from './connect.ts'

/** What came of an authorization. Only `connected` stored anything. */
export type Connection =
  | {
      type: 'connected'
      extensionId: string
      tenantId: string
      name: string
      phoneNumbers: string[]
      receiving: boolean
    }
  | { type: 'bad_state' }
  | { type: 'exchange_failed' }
  | { type: 'other_account' }

/**
 * Finishes an authorization: exchanges the code, stores the tokens, then discovers the numbers and creates the
 * subscription. Once the tokens are stored it is connected; what fails after that is tried again in the background.
 */
export async function completeConnect(gateway: Gateway, code: string, state: string): Promise<Connection> {
  const opened = await useState(gateway, state)
  if (opened === null) return { type: 'bad_state' }
  const { tenantId, codeVerifier } = opened
  const exchanged = await gateway.provider.exchangeCode({ code, codeVerifier, redirectUri: redirectUri(gateway) })
  if (!exchanged.ok) {
    const { status, code: reason, requestId } = exchanged.failure
    gateway.log.warn({ tenantId, status, code: reason, requestId }, 'authorization code was not exchanged')
    return { type: 'exchange_failed' }
  }
  const extension = await gateway.provider.getExtension(exchanged.value.accessToken)
  if (!extension.ok) return abandon(gateway, exchanged.value, 'exchange_failed')
  if (await hasOtherAccount(gateway, tenantId, extension.value.accountId))
    return abandon(gateway, exchanged.value, 'other_account')
  await store(gateway, tenantId, extension.value, exchanged.value)
  return settleIn(gateway, tenantId, extension.value)
}

/** Consumes a state that nobody will come back with. */
export async function useState(
  gateway: Gateway,
  state: string,
): Promise<{ tenantId: string; codeVerifier: string } | null> {
  const now = gateway.clock.now()
  const [used] = await gateway.database.writer.write([
    {
      sql: `UPDATE oauth_states SET used_at = ?2 WHERE state_hash IN (SELECT value FROM json_each(?1))
        AND used_at IS NULL AND expires_at > ?2 RETURNING state_hash, tenant_id, code_verifier`,
      args: [JSON.stringify(gateway.secrets.hashes(state)), now],
    },
  ])
  const row = used?.rows[0]
  if (row === undefined) return null
  const tenantId = String(row['tenant_id'])
  const context = { tenantId, row: String(row['state_hash']), purpose: 'pkce' } as const
  return { tenantId, codeVerifier: await gateway.secrets.open(String(row['code_verifier']), context) }
}

async function abandon(
  gateway: Gateway,
  pair: TokenPair,
  type: 'exchange_failed' | 'other_account',
): Promise<Connection> {
  await gateway.provider.revoke(pair.refreshToken)
  return { type }
}

async function hasOtherAccount(gateway: Gateway, tenantId: string, accountId: string): Promise<boolean> {
  const { extensions } = await gateway.directory.tenant(tenantId)
  return [...extensions.values()].some((row) => row.accountId !== accountId)
}

async function store(gateway: Gateway, tenantId: string, extension: ProviderExtension, pair: TokenPair): Promise<void> {
  const key = { tenantId, extensionId: extension.extensionId }
  const previous = await gateway.directory.extension(tenantId, extension.extensionId)
  const sealed = await gateway.tokens.seal(key, pair)
  const now = gateway.clock.now()
  await gateway.database.writer.write([
    upsertExtension({ ...key, ...sealed, accountId: extension.accountId, now }),
    {
      sql: `INSERT INTO jobs (id, kind, lane, tenant_id, subject, due_at, created_at) VALUES (?1, 'back_fill', ?2, ?3, ?2, ?4, ?5)`,
      args: [gateway.ids.of('job'), key.extensionId, tenantId, Math.ceil(gateway.clock.steady()), now],
    },
    // A lookup may have waited for this authorization.
    {
      sql: `UPDATE jobs SET due_at = min(due_at, ?3) WHERE kind = 'lookup' AND lane = ?1 AND tenant_id = ?2`,
      args: [key.extensionId, tenantId, Math.floor(gateway.clock.steady())],
    },
  ])
  gateway.directory.forget(tenantId)
  if (previous !== null) await endSession(gateway, await gateway.tokens.openRefresh(previous).catch(() => null))
}

/** The provider ends the oldest of more than five sessions without a word: we end the one we replace ourselves. */
async function endSession(gateway: Gateway, refreshToken: string | null): Promise<void> {
  if (refreshToken !== null) await gateway.provider.revoke(refreshToken)
}

async function settleIn(gateway: Gateway, tenantId: string, extension: ProviderExtension): Promise<Connection> {
  const key = { tenantId, extensionId: extension.extensionId }
  const numbers = await gateway.numbers.read(key)
  gateway.sending.wake(tenantId)
  for (const kind of ['lookup', 'back_fill'] as const)
    gateway.jobs.scheduled(kind, extension.extensionId, tenantId, 0)
  const receiving = ['kept', 'created'].includes(await gateway.subscriptions.ensure(key))
  gateway.log.info({ tenantId, extensionId: extension.extensionId, receiving }, 'extension connected')
  return {
    type: 'connected',
    tenantId,
    extensionId: extension.extensionId,
    name: extension.name,
    phoneNumbers: numbers.type === 'ok' ? numbers.value : [],
    receiving,
  }
}
