import type { Caller } from '../core/caller.ts'
import { ApiError } from '../core/errors.ts'
import { issueToken } from '../api/rc/issue-token.ts'
import type { Gateway } from '../messages/gateway.ts'

/**
 * Makes an absolute link that connects an extension. The server knows PUBLIC_URL; a terminal often does not. Errors: `conflict` at home
 * without a public address, `tooMany`.
 */
export async function createExtensionLink(
  gateway: Gateway,
  caller: Pick<Caller, 'tenantId'>,
  kind: 'connect' | 'invite',
): Promise<{ url: string }> {
  const { production, hasPublicUrl, publicUrl } = gateway.config
  if (production && !hasPublicUrl) throw new ApiError('conflict', NO_LINK)
  const { connectUrl } = await issueToken(gateway, caller, kind)
  return { url: `${publicUrl}${connectUrl}` }
}

/** RingCentral would refuse the redirect to localhost, or a different machine would follow it. */
const NO_LINK =
  'A link needs PUBLIC_URL, the https:// address that browsers reach: set it and restart, or connect the extension with a JWT (sgw extensions connect-jwt)'
