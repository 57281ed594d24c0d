import { MESSAGE_FAILURES, failureOf } from '../core/message-failure.ts'
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
  cannotSend?: { phoneNumber: string; reason: string }[]
}

interface Failed {
  error: string | null
  /** One of its numbers; absent: any extension. */
  from?: string
}

/**
 * Advice about the extensions that made a tenant's messages fail: how to reconnect one whose JWT is no longer accepted (the messages' own text
 * names a link), and which permission is missing.
 */
export async function fixesOf(context: CliContext, tenantId: string, messages: readonly Failed[]): Promise<string[]> {
  const failed = messages.filter(({ error }) => error !== null && (isRevoked(error) || codeOf(error) !== null))
  if (failed.length === 0) return []
  const fixes: string[] = []
  for (const { appId } of await actingApps(context, tenantId)) {
    const { extensions } = (await ask(context, { method: 'GET', path: HEALTH, appId })) as { extensions: Health[] }
    for (const health of extensions)
      if (failed.some((message) => isCauseOf(health, message)))
        fixes.push(`${health.extensionId}: ${health.reason ?? ''}. ${health.fix ?? ''}`)
  }
  return fixes
}

function isCauseOf({ status, connectedBy, phoneNumbers, reason }: Health, { error, from }: Failed): boolean {
  if (error === null || (from !== undefined && !phoneNumbers.includes(from))) return false
  if (isRevoked(error)) return status === 'revoked' && connectedBy === 'jwt'
  const code = codeOf(error)
  return code !== null && reason?.endsWith(` ${code})`) === true
}

const isRevoked = (error: string): boolean => error === MESSAGE_FAILURES.revoked.text

/** The provider's code of a refusal. */
const codeOf = (error: string): string | null => /^rejected:(.+)$/.exec(failureOf(error))?.[1] ?? null
