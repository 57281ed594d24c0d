import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Orm } from '../db/orm.ts'
import { extensions } from '../db/schema/connections.ts'
import type { ExtensionRow, TenantEntry } from './directory.ts'
import type { ExtensionKey } from './extension-rows.ts'

// What is known of the 10DLC campaigns of an extension's own local numbers in the United States. The column `campaigns` of the
// extension holds it as JSON, because those numbers that may not send have no row of their own.

const schema = z.object({
  number: z.string(),
  /** Null: the number is in none, or nothing is known. */
  campaign: z.object({ status: z.string(), tier: z.string().nullable() }).nullable(),
  /** The status of the answer that refused to show it; null if it was shown. */
  refused: z.int().nullable(),
  /** When the provider was last asked with success, or refused, epoch milliseconds; null if that never happened. */
  readAt: z.number().nullable(),
  /** Whether it sends, or did once. */
  hasSent: z.boolean(),
  /** When it began to need attention, epoch milliseconds; null if it does not. */
  failsSince: z.number().nullable(),
})

export type KnownCampaign = z.infer<typeof schema>

/** A number, as the doctor and others tell of it. */
export type ToldCampaign = KnownCampaign & { sends: boolean }

const list = z.array(schema)

/** None if they cannot be read: the next reading of the numbers brings them. */
export function knownCampaigns({ campaigns }: Pick<ExtensionRow, 'campaigns'>): KnownCampaign[] {
  if (campaigns === null) return []
  try {
    return list.safeParse(JSON.parse(campaigns)).data ?? []
  } catch {
    return []
  }
}

/** With whether each of them may send now. */
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
