import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Orm } from '../db/orm.ts'
import { extensions } from '../db/schema/connections.ts'
import type { ExtensionRow, TenantEntry } from './directory.ts'
import type { ExtensionKey } from './extension-rows.ts'

// What the gateway knows about the 10DLC campaigns of an extension's own local numbers in the United States. Stored as JSON in the
// extension's column `campaigns`, because numbers that may not send have no row.

const schema = z.object({
  number: z.string(),
  /** Null: the number is in none, or it is unknown. */
  campaign: z.object({ status: z.string(), tier: z.string().nullable() }).nullable(),
  /** The status of the answer that refused to show it; null if it was shown. */
  refused: z.int().nullable(),
  /** When the provider was last asked with success, or refused, epoch milliseconds; null if that never happened. */
  readAt: z.number().nullable(),
  /** Whether it can send, or once could. */
  hasSent: z.boolean(),
  /** When it began to need attention, epoch milliseconds; null if it does not. */
  failsSince: z.number().nullable(),
})

export type KnownCampaign = z.infer<typeof schema>

/** A number, in the form that the doctor and others report. */
export type ToldCampaign = KnownCampaign & { sends: boolean }

const list = z.array(schema)

/** Empty if they cannot be read: the next reading of the numbers brings them. */
export function knownCampaigns({ campaigns }: Pick<ExtensionRow, 'campaigns'>): KnownCampaign[] {
  if (campaigns === null) return []
  try {
    return list.safeParse(JSON.parse(campaigns)).data ?? []
  } catch {
    return []
  }
}

/** Adds whether each may send now. */
export function toldCampaigns({ listed }: Pick<TenantEntry, 'listed'>, row: ExtensionRow): ToldCampaign[] {
  const known = knownCampaigns(row)
  if (known.length === 0) return []
  const sending = new Set(listed.flatMap(({ extensionId, number }) => (extensionId === row.extensionId ? number : [])))
  return known.map((one) => ({ ...one, sends: sending.has(one.number) }))
}

export const storeCampaigns = (orm: Orm, { tenantId, extensionId }: ExtensionKey, known: readonly KnownCampaign[]) =>
  orm
    .update(extensions)
    .set({ campaigns: known.length === 0 ? null : JSON.stringify(known) })
    .where(and(eq(extensions.tenantId, tenantId), eq(extensions.extensionId, extensionId)))
