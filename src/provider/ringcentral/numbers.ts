import { z } from 'zod'
import { e164Beside, e164Of } from '../../core/phone.ts'
import type { ListedNumbers, LocalNumber, SmsNumber } from '../listed-numbers.ts'
import type { ProviderResult } from '../provider.ts'
import { EXTENSION_PATH } from './extension.ts'
import { listAll } from './pages.ts'
import type { Requester } from './request.ts'
import { optionalNumber, optionalText, wireId } from './wire-text.ts'

/** `GET …/phone-number` lists all numbers that the extension may show, including those of call queues and of the company. */
export async function listNumbers(requester: Requester, accessToken: string): Promise<ProviderResult<ListedNumbers>> {
  const listed = await listAll(
    requester,
    accessToken,
    { path: `${EXTENSION_PATH}/phone-number`, query: {} },
    numberSchema,
  )
  if (!listed.ok) return listed
  const sms = onceEach(listed.value.filter(maySendSms).flatMap(smsNumbers))
  const sending = new Set(sms.map(({ number }) => number))
  const local = onceEach(listed.value.flatMap((one) => localNumbers(one, sending)))
  return { ok: true, value: { sms, local } }
}

const onceEach = <T extends { number: string }>(numbers: readonly T[]): T[] => [
  ...new Map(numbers.map((one) => [one.number, one])).values(),
]

type PhoneNumber = z.infer<typeof numberSchema>

/** `UserPhoneNumberInfo`. A missing `features` means none. */
const numberSchema = z.looseObject({
  id: wireId.optional().catch(undefined),
  phoneNumber: optionalNumber,
  type: optionalText,
  paymentType: optionalText,
  status: optionalText,
  usageType: optionalText,
  extension: z.looseObject({ id: wireId, type: optionalText }).optional().catch(undefined),
  features: z.array(z.unknown()).catch([]),
  country: z.looseObject({ id: optionalNumber }).optional().catch(undefined),
})

/** `A2PSmsSender` belongs to the high-volume product, which has another endpoint. */
const maySendSms = (number: PhoneNumber): boolean => number.features.includes('SmsSender') && isInUse(number)

/** A new number may lack its status. */
const isInUse = ({ type, status }: PhoneNumber): boolean =>
  type !== 'FaxOnly' && (status === undefined || status === 'Normal')

/** The United States. */
const AMERICA = '1'

/** Old records lack the `+`. */
function e164s({ phoneNumber = '', country }: PhoneNumber): string[] {
  const number = country?.id === AMERICA ? e164Beside('+1', phoneNumber) : e164Of(phoneNumber)
  const digits = /^\+?([1-9]\d{6,14})$/.exec(number)?.[1]
  return digits === undefined ? [] : [`+${digits}`]
}

const smsNumbers = (record: PhoneNumber): SmsNumber[] =>
  e164s(record).map((number) => ({
    number,
    usageType: record.usageType ?? null,
    sendsMedia: record.features.includes('MmsSender'),
    ownerId: record.extension?.id ?? null,
    ownerType: record.extension?.type ?? null,
  }))

/** Direct numbers that need a 10DLC campaign: numbers of other countries, toll-free numbers and those of the high-volume product do not. */
function localNumbers(record: PhoneNumber, sending: ReadonlySet<string>): LocalNumber[] {
  const { id, paymentType, usageType, country, extension, features } = record
  const isLocal = paymentType === 'Local' && usageType === 'DirectNumber' && country?.id === AMERICA
  if (!isLocal || id === undefined || !isInUse(record) || features.includes('A2PSmsSender')) return []
  return e164s(record)
    .filter((number) => number.startsWith('+1'))
    .map((number) => ({ number, providerNumberId: id, ownerId: extension?.id ?? null, sends: sending.has(number) }))
}
