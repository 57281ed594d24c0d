import { z } from 'zod'
import { e164Beside, e164Of } from '../../core/phone.ts'
import type { ProviderResult, SmsNumber } from '../provider.ts'
import { EXTENSION_PATH } from './extension.ts'
import { listAll } from './pages.ts'
import type { Requester } from './request.ts'
import { optionalNumber, optionalText, wireId } from './wire-text.ts'

/** `GET …/phone-number` lists all numbers that the extension may show. Returns those that it may send SMS from. */
export async function listSmsNumbers(requester: Requester, accessToken: string): Promise<ProviderResult<SmsNumber[]>> {
  const listed = await listAll(
    requester,
    accessToken,
    { path: `${EXTENSION_PATH}/phone-number`, query: {} },
    numberSchema,
  )
  if (!listed.ok) return listed
  const numbers = listed.value.filter(maySendSms).flatMap(smsNumbers)
  return { ok: true, value: [...new Map(numbers.map((one) => [one.number, one])).values()] }
}

type PhoneNumber = z.infer<typeof numberSchema>

/** `UserPhoneNumberInfo`. A missing `features` means none. */
const numberSchema = z.looseObject({
  phoneNumber: optionalNumber,
  type: optionalText,
  status: optionalText,
  usageType: optionalText,
  extension: z.looseObject({ id: wireId, type: optionalText }).optional().catch(undefined),
  features: z.array(z.unknown()).catch([]),
  country: z.looseObject({ id: optionalNumber }).optional().catch(undefined),
})

/** `A2PSmsSender` belongs to the high-volume product, which has another endpoint. A new number may lack its status. */
const maySendSms = (number: PhoneNumber): boolean =>
  number.features.includes('SmsSender') &&
  number.type !== 'FaxOnly' &&
  (number.status === undefined || number.status === 'Normal')

/** The country of the United States and Canada. */
const AMERICA = '1'

/** Old records lack the `+`. */
function smsNumbers({ phoneNumber = '', country, usageType, extension, features }: PhoneNumber): SmsNumber[] {
  const number = country?.id === AMERICA ? e164Beside('+1', phoneNumber) : e164Of(phoneNumber)
  const digits = /^\+?([1-9]\d{6,14})$/.exec(number)?.[1]
  return digits === undefined
    ? []
    : [
        {
          number: `+${digits}`,
          usageType: usageType ?? null,
          sendsMedia: features.includes('MmsSender'),
          ownerId: extension?.id ?? null,
          ownerType: extension?.type ?? null,
        },
      ]
}
