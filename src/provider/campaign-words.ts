import type { ToldCampaign } from './known-campaigns.ts'
import type { Campaign } from './listed-numbers.ts'

/** The state of a campaign, which decides what a person can do. */
type Stage = 'unsent' | 'waits' | 'approved' | 'lost'

/** The statuses of RingCentral's API (`CampaignStatusInfo`; `PreventFailed` is how another part of it writes `PreVetFailed`). */
const STATUSES: Readonly<Record<string, { words: string; stage: Stage }>> = {
  Draft: { words: 'campaign drafted, not yet submitted', stage: 'unsent' },
  Created: { words: 'campaign created, not yet submitted', stage: 'unsent' },
  Submitted: { words: 'campaign submitted, not yet approved', stage: 'waits' },
  Unconfirmed: { words: 'campaign not yet confirmed by the carriers', stage: 'waits' },
  UpdateRequested: { words: 'change of the campaign requested, not yet approved', stage: 'waits' },
  Confirmed: { words: 'campaign approved', stage: 'approved' },
  SubmitFailed: { words: 'campaign rejected when it was submitted', stage: 'lost' },
  PreVetFailed: { words: 'campaign rejected before it was submitted', stage: 'lost' },
  PreventFailed: { words: 'campaign rejected before it was submitted', stage: 'lost' },
  CampaignSuspended: { words: 'campaign suspended', stage: 'lost' },
  CampaignExpired: { words: 'campaign expired', stage: 'lost' },
  DeleteRequested: { words: 'campaign about to be deleted', stage: 'lost' },
}

/** Whether it was rejected or suspended, or has expired or is about to be deleted. */
export const isLost = (campaign: Campaign | null): boolean => STATUSES[campaign?.status ?? '']?.stage === 'lost'

export const isApproved = ({ status }: Campaign): boolean => STATUSES[status]?.stage === 'approved'

/** Texts a day over all numbers of the campaign, if RingCentral gives a limit (developer guide, "SMS and MMS registration"). */
export const dailyLimitOf = ({ tier }: Campaign): number | null => (tier === 'LowVolume' ? 6000 : null)

/** `campaign submitted, not yet approved (LowVolume, 6,000 texts a day over all its numbers)` */
export function campaignWords({ campaign, refused, readAt, sends }: ToldCampaign): string {
  if (campaign === null) {
    if (refused !== null) return `campaign unknown, because RingCentral does not show it (${refused})`
    return readAt === null ? 'campaign not read yet' : 'in no campaign'
  }
  const words = STATUSES[campaign.status]?.words ?? `campaign has the status ${campaign.status}`
  const but = isApproved(campaign) && !sends ? ', but RingCentral does not let the number send' : ''
  return `${words}${but}${campaign.tier === null ? '' : ` (${tierWords(campaign)})`}`
}

/** `LowVolume, 6,000 texts a day over all its numbers` */
export function tierWords(campaign: Campaign): string {
  const limit = dailyLimitOf(campaign)
  const perDay = limit === null ? '' : `, ${limit.toLocaleString('en-US')} texts a day over all its numbers`
  return `${campaign.tier ?? ''}${perDay}`
}

const MAX_NAMED = 5

/** `+15555550101: campaign submitted, not yet approved; +15555550102: in no campaign` */
export function campaignsText(told: readonly ToldCampaign[]): string {
  const named = told.slice(0, MAX_NAMED).map((one) => {
    const isOver = one.hasSent && !one.sends
    return `${one.number}${isOver ? ' can no longer send' : ''}: ${campaignWords(one)}`
  })
  const more = told.length - MAX_NAMED
  return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

const IN_PORTAL = 'in the RingCentral admin portal'

const FIXES: Readonly<Record<Stage, string>> = {
  unsent: `Submit the campaign ${IN_PORTAL}; the carriers then take days, sometimes weeks.`,
  waits: 'The carriers take days, sometimes weeks; once they approve it, the number can send.',
  approved: "RingCentral will let the number send soon. If that takes more than a day, ask RingCentral's support.",
  lost: `See the reason ${IN_PORTAL}, and register the campaign again there.`,
}

/** What a person can do so that the number sends. */
export function campaignFix({ campaign, refused, readAt }: ToldCampaign): string {
  const stage = STATUSES[campaign?.status ?? '']?.stage
  if (stage !== undefined) return FIXES[stage]
  if (campaign !== null || refused !== null || readAt === null) return `See the status of its campaign ${IN_PORTAL}.`
  return `Register a campaign with this number ${IN_PORTAL}.`
}
