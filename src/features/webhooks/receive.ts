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

/** Whose event this is, by its token alone; nothing is read before. Errors: `badVerificationToken`. */
export async function verify(gateway: Gateway, verificationToken: string | null): Promise<Subscription> {
  if (verificationToken === null || verificationToken === '' || verificationToken.length > 512) throw apiError('badVerificationToken')
  const hashes = gateway.secrets.hashes(verificationToken)
  const { rows } = await gateway.database.gate.execute({
    sql: 'SELECT tenant_id, extension_id, token_hash FROM subscriptions WHERE token_hash IN (SELECT value FROM json_each(?1))',
    args: [JSON.stringify(hashes)],
  })
  const row = rows.find((candidate) => hashes.some((hash) => sameSecret(hash, String(candidate['token_hash']))))
  if (row === undefined) throw apiError('badVerificationToken')
  return { tenantId: String(row['tenant_id']), extensionId: String(row['extension_id']) }
}

/** Stores what an event brings; settles when it is on disk. Events that we have no use for are ignored. */
export async function receive(gateway: Gateway, subscription: Subscription, body: unknown): Promise<void> {
  const event = parseInboundEvent(body)
  if (event.kind === 'ignored') return gateway.log.debug({ why: event.why }, 'event ignored')
  await storeInbound(gateway, { ...subscription, ...event.sms })
}
