import { campaignFix, campaignsText } from '../../provider/campaign-words.ts'
import { type Directory, type ExtensionRow, hasNumbers } from '../../provider/directory.ts'
import { type ToldCampaign, toldCampaigns } from '../../provider/known-campaigns.ts'

interface Sentences {
  reason: string
  fix: string
}

/** Why an extension has no number that may send; returns `known` if its campaigns do not explain it. The caller has read the tenant. */
export function withoutNumber(directory: Directory, row: ExtensionRow, known: Sentences): Sentences {
  const told = campaignsOf(directory, row)
  const [first] = told
  return first === undefined ? known : { reason: `${known.reason}. ${campaignsText(told)}`, fix: campaignFix(first) }
}

/**
 * Numbers whose campaign was rejected or suspended, and numbers that may no longer send. An extension without any usable number is reported
 * separately. The caller has read the tenant.
 */
export function failingCampaigns(directory: Directory, row: ExtensionRow): (Sentences & { since: number })[] {
  const failing = campaignsOf(directory, row).filter(({ failsSince }) => failsSince !== null)
  const [first] = failing
  if (first === undefined || !hasNumbers(directory, row)) return []
  const since = Math.min(...failing.map(({ failsSince }) => failsSince ?? Infinity))
  return [{ reason: campaignsText(failing), fix: campaignFix(first), since }]
}

function campaignsOf(directory: Directory, row: ExtensionRow): ToldCampaign[] {
  const tenant = directory.known(row.tenantId)
  return tenant === undefined ? [] : toldCampaigns(tenant, row)
}
