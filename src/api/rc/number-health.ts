import { z } from 'zod'
import type { Gateway } from '../../messages/gateway.ts'
import { campaignWords, dailyLimitOf } from '../../provider/campaign-words.ts'
import type { NumberRow } from '../../provider/directory.ts'
import { placeOf } from '../../provider/inbound-source.ts'
import type { ToldCampaign } from '../../provider/known-campaigns.ts'

const NumberCampaign = z
  .object({
    status: z.string().meta({ description: 'In the words of the provider, such as `Submitted` or `Confirmed`' }),
    tier: z
      .string()
      .nullable()
      .meta({ description: 'In the words of the provider, such as `LowVolume`; null if unknown' }),
    dailyLimit: z
      .int()
      .nullable()
      .meta({ description: 'Texts a day over all numbers of the campaign; null if the provider gives no limit' }),
  })
  .nullable()
  .meta({
    description: 'The 10DLC campaign of an own local number in the US; null if it has or needs none, or it is unknown',
  })
type NumberCampaign = z.infer<typeof NumberCampaign>

/** A number that can send. */
export const NumberHealth = z.object({
  phoneNumber: z.string(),
  usageType: z.string().nullable().meta({ description: 'In the words of the provider; null if unknown' }),
  canSendMedia: z
    .boolean()
    .nullable()
    .meta({ description: 'Whether it may send pictures and other files; null if unknown' }),
  inbound: z.enum(['here', 'threads', 'elsewhere']).meta({
    description:
      "Where texts to it arrive. `here`: as usual. `threads`: the gateway reads them from RingCentral's Shared Inbox. `elsewhere`: they go to Shared Inbox, which this app may not read",
  }),
  campaign: NumberCampaign,
})

/** A local number in the United States that the provider does not let send. */
export const UnableNumber = z.object({
  phoneNumber: z.string(),
  campaign: NumberCampaign,
  reason: z.string().meta({ description: 'The status of its campaign' }),
})

export const numberHealth = (
  { directory, clock }: Gateway,
  row: NumberRow,
  told: readonly ToldCampaign[],
): z.infer<typeof NumberHealth> => ({
  phoneNumber: row.number,
  usageType: row.usageType,
  canSendMedia: row.sendsMedia,
  inbound: placeOf(directory, row, clock.now()),
  campaign: campaignView(told.find(({ number }) => number === row.number)),
})

export const unableNumbers = (told: readonly ToldCampaign[]): z.infer<typeof UnableNumber>[] =>
  told
    .filter(({ sends }) => !sends)
    .map((one) => ({ phoneNumber: one.number, campaign: campaignView(one), reason: campaignWords(one) }))

function campaignView({ campaign = null }: Partial<ToldCampaign> = {}): NumberCampaign {
  return campaign && { status: campaign.status, tier: campaign.tier, dailyLimit: dailyLimitOf(campaign) }
}
