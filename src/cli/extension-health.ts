import { MESSAGE_FAILURES } from '../core/message-failure.ts'
import { ask } from './ask.ts'
import type { CliContext } from './context.ts'
import { actingApps } from './tenant-scope.ts'

export const HEALTH = '/v1/rc/extensions/health'

export interface Health {
  extensionId: string
  extensionNumber: string | null
  name: string | null
  status: string
  reason: string | null
  fix: string | null
  connectedBy?: 'link' | 'jwt'
  jwtExpiresAt?: string | null
  phoneNumbers: string[]
  numbers?: { phoneNumber: string; inbound?: string }[]
}

interface Failed {
  error: string | null
  /** Its number; absent: of any. */
  from?: string
}

/** How extensions of a tenant are connected again whose JWT is not accepted any more: the text of their messages that failed names a link. */
export async function jwtFixesOf(
  context: CliContext,
  tenantId: string,
  messages: readonly Failed[],
): Promise<string[]> {
  const failed = messages.filter(({ error }) => error === MESSAGE_FAILURES.revoked.text)
  if (failed.length === 0) return []
  const fixes: string[] = []
  for (const { appId } of await actingApps(context, tenantId)) {
    const { extensions } = (await ask(context, { method: 'GET', path: HEALTH, appId })) as { extensions: Health[] }
    for (const { extensionId, status, connectedBy, phoneNumbers, reason, fix } of extensions)
      if (
        status === 'revoked' &&
        connectedBy === 'jwt' &&
        failed.some(({ from }) => from === undefined || phoneNumbers.includes(from))
      )
        fixes.push(`${extensionId}: ${reason ?? ''}. ${fix ?? ''}`)
  }
  return fixes
}
