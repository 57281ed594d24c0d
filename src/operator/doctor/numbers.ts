import { eq, isNotNull, isNull } from 'drizzle-orm'
import { extensions, phoneNumbers } from '../../db/schema/connections.ts'
import { readInactiveTenants } from '../../messages/gateway-state/extensions.ts'
import type { Gateway } from '../../messages/gateway.ts'
import { campaignsText, tierWords } from '../../provider/campaign-words.ts'
import { type NumberRow, sendersFirst } from '../../provider/directory.ts'
import { type ExtensionKey, nameOf } from '../../provider/extension-rows.ts'
import { toldCampaigns } from '../../provider/known-campaigns.ts'
import { isDirect } from '../../provider/number-owners.ts'
import { sendLimitOf } from '../../provider/send-limit.ts'
import { Fault } from './fault.ts'

/**
 * Numbers of call queues and of the company keep their messages in a different store from their extension's. Until the provider has shown one
 * of them, a missing record proves nothing.
 */
export async function checkNumbers({ database }: Gateway): Promise<string> {
  const inactive = await readInactiveTenants(database)
  const rows = (await readSenders(database)).filter(({ tenantId }) => !inactive.has(tenantId))
  const unread = new Set((await readUnread(database)).map(nameOf))
  const hidden = rows
    .filter((row) => row.shownAt === null && !isDirect(row) && !unread.has(nameOf(row)))
    .map(({ number }) => number)
  const campaigns = await campaignsOf(database, inactive)
  if (hidden.length === 0)
    return `${rows.length === 0 ? 'none yet' : `${rows.length} that can send${withoutMedia(rows)}`}${campaigns}`
  const list = [...new Set(hidden)].toSorted().join(', ')
  throw new Fault(
    `${list}: RingCentral has not yet shown any message from a number that belongs to a call queue or the company. Until it does, a text whose answer is lost ends as "Delivery could not be confirmed with the provider" and is not sent again automatically${withoutMedia(rows)}${campaigns}`,
    'warn',
  )
}

/** Which numbers can send only text, as toll-free numbers do. Whether the others can send media may not be known yet. */
function withoutMedia(rows: readonly NumberRow[]): string {
  const numbers = new Set(rows.filter(({ sendsMedia }) => sendsMedia === false).map(({ number }) => number))
  if (numbers.size === 0) return ''
  return `; without pictures, because RingCentral gives no MmsSender (it never does for toll-free numbers): ${[...numbers].toSorted().join(', ')}`
}

/** Which tiers the campaigns of numbers that send have, and which numbers cannot send, except where that is a condition. */
async function campaignsOf({ orm }: Gateway['database'], inactive: ReadonlySet<string>): Promise<string> {
  const rows = await orm.select().from(extensions).where(isNotNull(extensions.campaigns))
  const listed = Map.groupBy(await orm.select().from(phoneNumbers), nameOf)
  const told = rows
    .filter(({ tenantId }) => !inactive.has(tenantId))
    .flatMap((row) => toldCampaigns({ listed: listed.get(nameOf(row)) ?? [] }, row))
  const tiers = new Set(told.flatMap(({ sends, campaign }) => (sends && campaign?.tier ? tierWords(campaign) : [])))
  const unable = told.filter(({ sends, failsSince }) => !sends && failsSince === null)
  const ofThose = tiers.size === 0 ? '' : `; campaign: ${[...tiers].join(' and ')}`
  return unable.length === 0 ? ofThose : `${ofThose}; cannot send: ${campaignsText(unable)}`
}

/** For each number of a tenant the row of the extension that sends for it. */
async function readSenders({ orm }: Gateway['database']): Promise<NumberRow[]> {
  const rows = await orm.select().from(phoneNumbers)
  const ofRevoked = await orm
    .select({ tenantId: extensions.tenantId, extensionId: extensions.extensionId })
    .from(extensions)
    .where(eq(extensions.status, 'revoked'))
  const revoked = new Set(ofRevoked.map(nameOf))
  const ordered = sendersFirst(rows, (row) => revoked.has(nameOf(row)))
  return [...new Map(ordered.toReversed().map((row) => [`${row.tenantId}/${row.number}`, row])).values()]
}

/** The extensions whose numbers have not been read since the upgrade from a release that did not store their usage type. */
const readUnread = ({ orm }: Gateway['database']): Promise<ExtensionKey[]> =>
  orm
    .select({ tenantId: extensions.tenantId, extensionId: extensions.extensionId })
    .from(extensions)
    .where(isNull(extensions.numbersReadAt))

/** Compares how many messages an extension may send in a minute with what the provider's answers say. */
export function checkLimits({ config, provider }: Gateway): string {
  const { perMinute, set, told } = sendLimitOf(config, provider)
  const uses = `${perMinute} messages a minute from an extension`
  if (told === null) return `${uses}; RingCentral has not said yet how many it allows`
  if (set !== null && told < set)
    throw new Fault(
      `RingCentral allows your app ${told} a minute and EXTENSION_LIMIT_PER_MINUTE is ${set}: set it to ${told}, or further messages are refused and have to wait`,
      'warn',
    )
  if (told > perMinute)
    return `${uses}; RingCentral allows your app ${told}: set EXTENSION_LIMIT_PER_MINUTE=${told} to use them`
  return `${uses}, as RingCentral says`
}
