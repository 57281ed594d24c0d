import type { ApiCall } from './api-call.ts'
import type { Extension } from './directory.ts'
import { notFound } from './errors.ts'
import { json, type Reply } from './http.ts'
import type { World } from './world.ts'

/** `GET …/extension/~/features` (RingCentral API reference, "Get extension features"): those that SMS clients ask for. */
export function listFeatures({ world, call, extension }: ApiCall): Reply {
  const wanted = call.query.getAll('featureId')
  const onlyAvailable = call.query.get('availableOnly') === 'true'
  const records = featuresOf(world, extension)
    .filter(({ id }) => wanted.length === 0 || wanted.includes(id))
    .filter(({ available }) => available || !onlyAvailable)
  return json(200, { records })
}

interface Feature {
  id: string
  available: boolean
  params?: { name: string; value: string }[]
  reason?: { code: string; message: string }
}

function featuresOf(world: World, extension: Extension): Feature[] {
  const hasQueue = extension.numbers.some((number) => number.ownerId !== extension.id)
  const params = ['callQueueSupported', 'siteSupported'].map((name) => ({ name, value: 'true' }))
  return [
    { id: 'SMSSending', available: true },
    { id: 'ReadMessages', available: true },
    hasQueue
      ? { id: 'CallQueueSmsRecipient', available: true }
      : missing('CallQueueSmsRecipient', 'ExtensionLimitation'),
    world.settings.messageThreads
      ? { id: 'MessageThreads', available: true, params }
      : missing('MessageThreads', 'AccountLimitation'),
  ]
}

const missing = (id: string, code: string): Feature => ({
  id,
  available: false,
  reason: { code, message: 'The feature is not available' },
})

/** `GET …/phone-number/{phoneNumberId}/sms-configuration` (same reference, "Get SMS configuration"). */
export function smsConfiguration({ extension, ids }: ApiCall): Reply {
  const number = extension.numbers.find(({ id }) => String(id) === ids[0])
  if (number === undefined) return notFound('phoneNumberId')
  const { id, phoneNumber, campaign } = number
  const campaignInfo = {
    smsCampaignInfo: { id: 'CSIM001', status: campaign?.status, registrationTier: campaign?.tier, useCases: ['MIXED'] },
    smsBrandInfo: { id: 'BSIM001', status: 'Confirmed' },
  }
  return json(200, { phoneNumberId: String(id), phoneNumber, ...(campaign === null ? {} : campaignInfo) })
}
