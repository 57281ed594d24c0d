import { z } from 'zod'
import { e164Beside, e164Of } from '../../core/phone.ts'
import type { ProviderResult } from '../provider.ts'
import { EXTENSION_PATH } from './extension.ts'
import { listAll } from './pages.ts'
import type { Requester } from './request.ts'
import { optionalNumber, optionalText } from './wire-text.ts'

/** `GET …/phone-number` lists all numbers that the extension may show. Returns those that it may send SMS from. */
export async function listSmsNumbers(requester: Requester, accessToken: string): Promise<ProviderResult<string[]>> {
  const listed = await listAll(
    requester,
    accessToken,
    { path: `${EXTENSION_PATH}/phone-number`, query: {} },
    numberSchema,
  )
  if (!listed.ok) return listed
  return { ok: true, value: [...new Set(listed.value.filter(maySendSms).flatMap(e164))] }
}

type PhoneNumber = z.infer<typeof numberSchema>

/** `UserPhoneNumberInfo`. A missing `features` means none. */
const numberSchema = z.looseObject({
  phoneNumber: optionalNumber,
  type: optionalText,
  status: optionalText,
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
function e164({ phoneNumber = '', country }: PhoneNumber): string[] {
  const number = country?.id === AMERICA ? e164Beside('+1', phoneNumber) : e164Of(phoneNumber)
  const digits = /^\+?([1-9]\d{6,14})$/.exec(number)?.[1]
  return digits ? [`+${digits}`] : []
}
