import type { Gateway } from '../../messages/gateway.ts'
import type { ExtensionRow } from '../../provider/directory.ts'
import { sessionToken } from '../../provider/stored-credentials.ts'

/** Ends the session of a stored authorization, if it has not ended by itself. Rejects if its tokens cannot be decrypted. */
export async function endStoredSession(gateway: Gateway, row: ExtensionRow): Promise<void> {
  const token = await sessionToken(gateway.secrets, row, gateway.clock.now())
  if (token !== null) await endSession(gateway, row.extensionId, token)
}

/** Ends a session at the provider by one of its tokens. The provider allows five, and ends the oldest without notice. */
export async function endSession({ quota, provider }: Gateway, extensionId: string, token: string): Promise<void> {
  quota.countAuth(extensionId)
  await provider.revoke(token)
}
