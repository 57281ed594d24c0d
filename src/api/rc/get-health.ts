import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { time } from '../fields/answer-fields.ts'
import { ExtensionStatus } from '../fields/named-enums.ts'
import type { Caller } from '../../core/caller.ts'
import { isoTime } from '../../core/clock.ts'
import { subscriptions } from '../../db/schema/index.ts'
import type { Gateway } from '../../messages/gateway.ts'
import type { ExtensionRow, TenantEntry } from '../../provider/directory.ts'
import { toldCampaigns } from '../../provider/known-campaigns.ts'
import { SEND_GROUP } from '../../provider/quota.ts'
import { IS_WEBHOOK } from '../../provider/socket-rows.ts'
import { troubleOf } from '../../messages/upkeep/extension-trouble.ts'
import { longestConnectedFirst, numbersOf } from './list-extensions.ts'
import { NumberHealth, UnableNumber, numberHealth, unableNumbers } from './number-health.ts'

const ExtensionHealth = z
  .object({
    extensionId: z.string(),
    rcAccountId: z.string(),
    extensionNumber: z.string().nullable().meta({ description: 'As the provider tells it; null if unknown' }),
    name: z.string().nullable().meta({ description: 'As the provider tells it; null if unknown' }),
    status: ExtensionStatus,
    reason: z.string().nullable().meta({ description: 'What is wrong; null if nothing is' }),
    since: time.nullable().meta({ description: 'Since when' }),
    fix: z.string().nullable().meta({ description: 'What to do about it' }),
    connectedBy: z
      .enum(['link', 'jwt'])
      .optional()
      .meta({ description: 'Whether a person has logged in through a link, or a JWT opens its sessions' }),
    jwtExpiresAt: time
      .nullable()
      .optional()
      .meta({ description: 'When its JWT ends; null if it has no end. Only with `connectedBy` `jwt`' }),
    phoneNumbers: z.array(z.string()),
    numbers: z.array(NumberHealth).optional(),
    cannotSend: z.array(UnableNumber).optional().meta({
      description: 'Your US local numbers that the provider does not let send; `numbers` has those that can',
    }),
    windowUsed: z.int().meta({ description: 'Calls of the last 60 seconds that count for its limit' }),
    windowLimit: z.int(),
    pausedUntil: time.nullable().meta({ description: 'The provider asked to wait: nothing is sent before this time' }),
    subscription: z.object({ status: z.enum(['active', 'pending', 'expired', 'none']), expiresAt: time.nullable() }),
    accessExpiresAt: time,
    refreshExpiresAt: time,
    sessionExpiresAt: time.nullable().optional().meta({
      description: 'When the provider ends its session, even if its tokens are refreshed; null if it sets no such end',
    }),
    lastInboundAt: time.nullable().meta({ description: 'When the newest message to one of its numbers was stored' }),
  })
  .meta({ id: 'ExtensionHealth' })
type ExtensionHealth = z.infer<typeof ExtensionHealth>

const EXAMPLE: ExtensionHealth = {
  extensionId: '629890016',
  rcAccountId: '809640016',
  extensionNumber: '101',
  name: 'Reception',
  status: 'active',
  reason: null,
  since: null,
  fix: null,
  connectedBy: 'link',
  phoneNumbers: ['+15555550100'],
  numbers: [
    {
      phoneNumber: '+15555550100',
      usageType: 'DirectNumber',
      canSendMedia: true,
      inbound: 'here',
      campaign: { status: 'Confirmed', tier: 'LowVolume', dailyLimit: 6000 },
    },
  ],
  cannotSend: [
    {
      phoneNumber: '+15555550101',
      campaign: { status: 'Submitted', tier: 'LowVolume', dailyLimit: 6000 },
      reason: 'campaign submitted, not yet approved (LowVolume, 6,000 texts a day over all its numbers)',
    },
  ],
  windowUsed: 3,
  windowLimit: 40,
  pausedUntil: null,
  subscription: { status: 'active', expiresAt: '2026-11-28T02:30:00.000Z' },
  accessExpiresAt: '2026-11-21T03:30:00.000Z',
  refreshExpiresAt: '2026-11-28T02:30:00.000Z',
  sessionExpiresAt: null,
  lastInboundAt: '2026-11-21T02:30:00.000Z',
}

export const ExtensionsHealth = z
  .object({ extensions: z.array(ExtensionHealth) })
  .meta({ id: 'ExtensionHealthList', example: { extensions: [EXAMPLE] } })
type ExtensionsHealth = z.infer<typeof ExtensionsHealth>

/** Returns the health of the tenant's connected extensions, the longest connected first. */
export async function getHealth(gateway: Gateway, { tenantId }: Caller): Promise<ExtensionsHealth> {
  const tenant = await gateway.directory.tenant(tenantId)
  const rows = longestConnectedFirst(tenant)
  const lastInbound = await readLastInbound(gateway, tenantId)
  return {
    extensions: await Promise.all(rows.map((row) => healthOf(gateway, row, tenant, lastInbound))),
  }
}

async function healthOf(
  gateway: Gateway,
  row: ExtensionRow,
  tenant: TenantEntry,
  lastInbound: ReadonlyMap<string, number>,
): Promise<ExtensionHealth> {
  const { extensionId } = row
  const numbers = numbersOf(tenant, row)
  const told = toldCampaigns(tenant, row)
  const unable = unableNumbers(told)
  const phoneNumbers = numbers.map(({ number }) => number)
  const { silentSince, ...subscription } = await readSubscription(gateway, row)
  const trouble = troubleOf(gateway, row, silentSince)
  const { used, limit } = gateway.quota.extensionUse(extensionId)
  const pauseMs = gateway.quota.pauseMs(extensionId, SEND_GROUP)
  const lastInboundAt = Math.max(...phoneNumbers.map((number) => lastInbound.get(number) ?? -Infinity))
  return {
    extensionId,
    rcAccountId: row.accountId,
    extensionNumber: row.extensionNumber,
    name: row.name,
    status: row.status,
    reason: trouble?.reason ?? null,
    since: trouble === null ? null : isoTime(trouble.since),
    fix: trouble?.fixForApps ?? trouble?.fix ?? null,
    connectedBy: row.jwt === null ? 'link' : 'jwt',
    ...(row.jwt === null ? {} : { jwtExpiresAt: row.jwtExpiresAt === null ? null : isoTime(row.jwtExpiresAt) }),
    phoneNumbers,
    numbers: numbers.map((number) => numberHealth(gateway, number, told)),
    ...(unable.length === 0 ? {} : { cannotSend: unable }),
    windowUsed: used,
    windowLimit: limit,
    pausedUntil: pauseMs > 0 ? isoTime(Math.ceil(gateway.clock.now() + pauseMs)) : null,
    subscription,
    accessExpiresAt: isoTime(row.accessExpiresAt),
    refreshExpiresAt: isoTime(row.refreshExpiresAt),
    sessionExpiresAt: row.sessionEndsAt === null ? null : isoTime(row.sessionEndsAt),
    lastInboundAt: lastInboundAt === -Infinity ? null : isoTime(lastInboundAt),
  }
}

const NEWEST_INBOUND = `SELECT to_number AS number, max(created_at) AS at FROM messages
  WHERE tenant_id = ?1 AND direction = 'inbound' GROUP BY to_number`

/** When the newest message to each of the tenant's numbers was stored, epoch milliseconds. */
async function readLastInbound({ database }: Gateway, tenantId: string): Promise<Map<string, number>> {
  const rows = await database.reader.longRead(tenantId, NEWEST_INBOUND, [tenantId])
  return new Map(rows.map((row) => [String(row['number']), Number(row['at'])]))
}

/**
 * Reads the subscription that expires last. Replaced ones may have left rows behind. `silentSince`: when the last one expired, or
 * the one began that the provider has not confirmed yet; null if one is active.
 */
async function readSubscription(
  { database, clock, lifecycle }: Gateway,
  { tenantId, extensionId, connectedAt, status: extensionStatus }: ExtensionRow,
): Promise<ExtensionHealth['subscription'] & { silentSince: number | null }> {
  // Its row may still exist.
  if (extensionStatus === 'revoked') return { status: 'none', expiresAt: null, silentSince: null }
  const rows = await database.orm
    .select({
      status: subscriptions.status,
      createdAt: subscriptions.createdAt,
      expiresAt: subscriptions.expiresAt,
      isWebhook: IS_WEBHOOK,
    })
    .from(subscriptions)
    .where(
      and(
        eq(subscriptions.tenantId, tenantId),
        eq(subscriptions.extensionId, extensionId),
        eq(subscriptions.topic, 'messages'),
      ),
    )
  // A socket has ended with the server that opened it.
  const active = rows.filter(({ status, isWebhook }) => status === 'active' && (lifecycle.working || isWebhook === 1))
  if (active.length === 0) {
    const silentSince = rows.length === 0 ? connectedAt : Math.min(...rows.map((row) => row.createdAt))
    return { status: rows.length === 0 ? 'none' : 'pending', expiresAt: null, silentSince }
  }
  const expiresAt = Math.max(...active.map((row) => row.expiresAt ?? 0))
  const isActive = expiresAt > clock.now()
  return {
    status: isActive ? 'active' : 'expired',
    expiresAt: isoTime(expiresAt),
    silentSince: isActive ? null : expiresAt,
  }
}
