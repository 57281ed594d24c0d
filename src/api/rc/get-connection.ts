import { z } from 'zod'
import { time } from '../fields/answer-fields.ts'
import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { END_OF_TIME } from '../../core/jwt.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { ExtensionRow } from '../../provider/directory.ts'

/** `expiresAt` and `rcAccountId` only while the tenant is connected. One flat object, because generators read only the first of several. */
export const ConnectionStatus = z
  .object({
    connected: z.boolean(),
    expiresAt: time.optional().meta({
      description:
        'When the first of the authorizations ends if it is not renewed: that of a refresh token, of a session that the account limits, or of a JWT (the year 9999 if it has no end). Only if connected',
    }),
    rcAccountId: z.string().optional().meta({ description: 'Only if connected', example: '809640016' }),
  })
  .meta({ id: 'Connection' })
export type ConnectionStatus = { connected: true; expiresAt: string; rcAccountId: string } | { connected: false }

/** A tenant is connected if at least one of its extensions is not revoked. */
export async function getConnection(gateway: Gateway, caller: Caller): Promise<ConnectionStatus> {
  const { extensions } = await gateway.directory.tenant(caller.tenantId)
  const live = [...extensions.values()].filter((row) => row.status !== 'revoked')
  const [first] = live
  if (first === undefined) return { connected: false }
  const expiresAt = Math.min(...live.map(authorizationEndsAt))
  return { connected: true, expiresAt: isoTime(expiresAt), rcAccountId: first.accountId }
}

/** When a person must act, epoch milliseconds. A JWT opens a new session whenever one ends. */
const authorizationEndsAt = ({ jwt, jwtExpiresAt, refreshExpiresAt, sessionEndsAt }: ExtensionRow): number =>
  jwt === null ? Math.min(refreshExpiresAt, sessionEndsAt ?? END_OF_TIME) : (jwtExpiresAt ?? END_OF_TIME)
