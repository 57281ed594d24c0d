import { z } from 'zod'
import type { Gateway } from '../../messages/gateway.ts'
import type { Watched } from './await-lease.ts'

/** The answer of `sgw lease`. */
export const LeaseReport = z
  .object({
    role: z.enum(['standby', 'starting', 'active']).meta({ description: 'What this gateway does' }),
    epoch: z
      .int()
      .nullable()
      .meta({ description: 'That of the lease; null before the first one, and without STANDBY' }),
    holder: z
      .string()
      .nullable()
      .meta({ description: 'Host and port of the gateway that holds it; null if nobody does' }),
    url: z.string().nullable().meta({ description: 'PUBLIC_URL of the holder' }),
    ageMs: z.number().nullable().meta({ description: 'Milliseconds since the lease was seen to be renewed' }),
  })
  .meta({ id: 'LeaseReport' })
export type LeaseReport = z.infer<typeof LeaseReport>

/** The report of the active gateway. */
export function reportOf({ lease, config }: Pick<Gateway, 'lease' | 'config'>): LeaseReport {
  const { epoch, holder } = lease ?? { epoch: null, holder: null }
  return {
    role: 'active',
    epoch,
    holder,
    url: config.publicUrl,
    ageMs: lease === null ? null : Math.round(lease.ageMs()),
  }
}

/** The report of a waiting gateway. `ageMs`: since this gateway saw the lease change. */
export function reportOfWatched(role: LeaseReport['role'], { lease, unchangedSince }: Watched): LeaseReport {
  if (lease === null) return { role, epoch: null, holder: null, url: null, ageMs: null }
  const { epoch, holder, url } = lease.content
  return {
    role,
    epoch,
    holder: holder === '' ? null : holder,
    url,
    ageMs: Math.round(performance.now() - unchangedSince),
  }
}
