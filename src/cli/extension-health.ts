import { MESSAGE_FAILURES } from '../core/message-failure.ts'
import type { StatusReport } from '../operator/status.ts'
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
}

/** How extensions are connected again whose JWT has ended: the text of their messages that failed names a link. */
export async function jwtFixesOf(
  context: CliContext,
  { tenantId, errors }: StatusReport['failed'][number],
): Promise<string[]> {
  if (!errors.some(({ error }) => error === MESSAGE_FAILURES.revoked.text)) return []
  const fixes: string[] = []
  for (const { appId } of await actingApps(context, tenantId)) {
    const { extensions } = (await ask(context, { method: 'GET', path: HEALTH, appId })) as { extensions: Health[] }
    for (const { extensionId, status, connectedBy, fix } of extensions)
      if (status === 'revoked' && connectedBy === 'jwt') fixes.push(`${extensionId}: ${fix ?? ''}`)
  }
  return fixes
}
