import { extensionUri, type ApiCall } from './api-call.ts'
import type { Extension, PhoneNumber } from './directory.ts'
import { json, type Reply } from './http.ts'
import { LOCATION } from './message-record.ts'
import { pageOf, readPage } from './paging.ts'
import type { World } from './world.ts'

/** `GET …/extension/~` (RingCentral API reference, "Get extension"), reduced to the members that every user has. */
export function getExtension({ world, extension }: ApiCall): Reply {
  const [firstName = '', ...rest] = extension.name.split(' ')
  return json(200, {
    uri: extensionUri(world, extension),
    id: extension.id,
    extensionNumber: extension.extensionNumber,
    contact: { firstName, lastName: rest.join(' '), company: 'Example, Inc.', emailAsLoginName: true },
    name: extension.name,
    type: extension.type,
    status: extension.status,
    serviceFeatures: [
      { featureName: 'SMS', enabled: true },
      { featureName: 'SMSReceiving', enabled: true },
      { featureName: 'InternationalSMS', enabled: false, reason: 'AccountLimitation' },
    ],
    setupWizardState: 'Completed',
    permissions: { admin: { enabled: true }, internationalCalling: { enabled: true } },
    account: { uri: accountUri(world, extension.accountId), id: String(extension.accountId) },
    hidden: false,
  })
}

/** `GET …/extension/~/phone-number` (same reference, "List extension phone numbers"). */
export function listPhoneNumbers({ world, call, extension }: ApiCall): Reply {
  const echoed = new URLSearchParams()
  for (const name of ['usageType', 'status']) for (const one of call.query.getAll(name)) echoed.append(name, one)
  const page = readPage(call.query, `${extensionUri(world, extension)}/phone-number`, echoed)
  if ('status' in page) return page
  const usageTypes = call.query.getAll('usageType')
  const statuses = call.query.getAll('status')
  const numbers = extension.numbers
    .filter((one) => usageTypes.length === 0 || usageTypes.includes(one.usageType))
    .filter((one) => statuses.length === 0 || statuses.includes(one.status))
  return json(
    200,
    pageOf(numbers, page, (number) => numberRecord(world, extension, number)),
  )
}

const accountUri = (world: World, accountId: number): string => `${world.url}/restapi/v1.0/account/${accountId}`

/** A number of a call queue names the queue as its extension. */
function numberRecord(world: World, { accountId }: Extension, number: PhoneNumber): Record<string, unknown> {
  const { id, phoneNumber, paymentType, type, usageType, status, features, label, primary } = number
  const owner = world.directory.extension(number.ownerId)
  return {
    uri: `${accountUri(world, accountId)}/phone-number/${id}`,
    id,
    phoneNumber,
    paymentType,
    type,
    usageType,
    status,
    country: { uri: `${world.url}/restapi/v1.0/dictionary/country/1`, id: '1', name: 'United States' },
    ...(paymentType === 'Local' ? { location: LOCATION } : {}),
    ...(label === null ? {} : { label }),
    primary,
    ...(owner === undefined ? {} : { extension: owningExtension(world, owner) }),
    features,
  }
}

const owningExtension = (world: World, owner: Extension): Record<string, unknown> => ({
  uri: extensionUri(world, owner),
  id: owner.id,
  extensionNumber: owner.extensionNumber,
  type: owner.type,
  name: owner.name,
})
