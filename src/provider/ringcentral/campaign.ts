import { z } from 'zod'
import type { Campaign } from '../listed-numbers.ts'
import type { ProviderResult } from '../provider.ts'
import { EXTENSION_PATH } from './extension.ts'
import type { Call, Requester } from './request.ts'
import { optionalText, storableText } from './wire-text.ts'

/** `GET …/phone-number/{phoneNumberId}/sms-configuration` (RingCentral API reference, "Get SMS configuration"). */
export function readCampaign(
  requester: Requester,
  accessToken: string,
  providerNumberId: string,
): Promise<ProviderResult<Campaign | null>> {
  const path = `${EXTENSION_PATH}/phone-number/${encodeURIComponent(providerNumberId)}/sms-configuration`
  const call: Call = { method: 'GET', path, query: {}, as: { accessToken } }
  return requester.read(call, configurationSchema)
}

const MAX_WORD_LENGTH = 64
const word = optionalText.transform((text) => text && storableText(text, MAX_WORD_LENGTH))
const infoSchema = z.looseObject({ status: word, registrationTier: word })

/** A number that is in no campaign has no `smsCampaignInfo`. */
const configurationSchema = z
  .looseObject({ smsCampaignInfo: infoSchema.optional().catch(undefined) })
  .transform(({ smsCampaignInfo }): Campaign | null =>
    smsCampaignInfo?.status ? { status: smsCampaignInfo.status, tier: smsCampaignInfo.registrationTier || null } : null,
  )
