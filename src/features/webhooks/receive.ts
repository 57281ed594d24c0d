import { apiError } from '../../core/errors.ts'
import { sameSecret } from '../../core/secrets.ts'
import type { Gateway } from '../../gateway.ts'
import { parseInboundEvent } from '../../provider/ringcentral/inbound-event.ts'
import { storeInbound } from './store-inbound.ts'

/** The subscription that a Verification-Token belongs to. */
export interface Subscription {
  tenantId: string
  extensionId: string
}

/** Whose an event says it is; either may be missing. */
interface Claim {
  subscriptionId: string | null
  ownerId: string | null
}

const NO_CLAIM: Claim = { subscriptionId: null, ownerId: null }
const MAX_TOKEN_LENGTH = 512

/**
 * Whose event this is, by its token alone. A claim may add nothing to that, but it must not contradict it: a token
 * does not speak for another tenant's subscription or extension. Errors: `badVerificationToken`.
 */
export async function verify(gateway: Gateway, verificationToken: string | null, claim = NO_CLAIM): Promise<Subscription> {
  if (verificationToken === null || verificationToken === '' || verificationToken.length > MAX_TOKEN_LENGTH) throw apiError('badVerificationToken')
  const hashes = gateway.secrets.hashes(verificationToken)
  const { rows } = await gateway.database.gate.execute({ sql: FIND, args: [JSON.stringify(hashes), claim.subscriptionId, claim.ownerId] })
  const row = rows.find((candidate) => hashes.some((hash) => sameSecret(hash, String(candidate['token_hash']))))
  if (row === undefined || Number(row['foreign_claim']) !== 0) throw apiError('badVerificationToken')
  return { tenantId: String(row['tenant_id']), extensionId: String(row['extension_id']) }
}

const FIND = `SELECT tenant_id, extension_id, token_hash,
    EXISTS (SELECT 1 FROM subscriptions AS other WHERE other.provider_id = ?2 AND other.tenant_id != own.tenant_id)
      OR (?3 != own.extension_id AND EXISTS (SELECT 1 FROM extensions WHERE extension_id = ?3 AND tenant_id != own.tenant_id)
        AND NOT EXISTS (SELECT 1 FROM extensions WHERE extension_id = ?3 AND tenant_id = own.tenant_id)) AS foreign_claim
  FROM subscriptions AS own WHERE token_hash IN (SELECT value FROM json_each(?1))`

/**
 * Stores what an event brings; settles when it is on disk. Events that we have no use for are ignored.
 * Errors: `badVerificationToken`.
 */
export async function receive(gateway: Gateway, verificationToken: string | null, body: unknown): Promise<void> {
  const event = parseInboundEvent(body)
  if (event.kind === 'ignored') return gateway.log.debug({ why: event.why }, 'event ignored')
  const subscription = await verify(gateway, verificationToken, event)
  await storeInbound(gateway, { ...subscription, ...event.sms })
}
