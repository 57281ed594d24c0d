import { z } from 'zod'
import type { ThreadsFeature } from '../message-threads.ts'
import type { ProviderResult } from '../provider.ts'
import { EXTENSION_PATH } from './extension.ts'
import type { Call, Requester } from './request.ts'
import { optionalText } from './wire-text.ts'

/** `GET …/features?featureId=MessageThreads` (RingCentral developer guide, "SMS Thread Messaging"), which the product calls Shared Inbox. */
export function readThreadsFeature(requester: Requester, accessToken: string): Promise<ProviderResult<ThreadsFeature>> {
  const query = { featureId: FEATURE }
  const call: Call = { method: 'GET', path: `${EXTENSION_PATH}/features`, query, as: { accessToken } }
  return requester.read(call, featuresSchema)
}

const FEATURE = 'MessageThreads'

const paramSchema = z.looseObject({ name: optionalText, value: z.unknown() })

const featureSchema = z.looseObject({
  id: optionalText,
  available: z.boolean().catch(false),
  params: z.array(paramSchema).catch([]),
})

/** A platform without the feature lists nothing. If it does not name a kind of number, that kind is included. */
const featuresSchema = z.looseObject({ records: z.array(featureSchema).catch([]) }).transform(({ records }) => {
  const feature = records.find(({ id }) => id === FEATURE)
  const has = (name: string): boolean => {
    const param = feature?.params.find((one) => one.name === name)
    return feature?.available === true && (param === undefined || String(param.value) === 'true')
  }
  return { ofQueues: has('callQueueSupported'), ofSites: has('siteSupported') }
})
