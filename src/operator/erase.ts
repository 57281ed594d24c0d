import { z } from 'zod'
import { isE164 } from '../core/phone.ts'
import { type Erased, erasePhone } from '../features/sms/erase.ts'
import type { Gateway } from '../gateway.ts'

export const Erase = z.object({ phone: z.string().refine(isE164, '--phone must be a phone number such as +15555550100') })

/** Deletes everything about a person's number; answers how many rows went, and how many messages still wait. */
export const erase = (gateway: Gateway, { phone }: z.output<typeof Erase>): Promise<Erased> => erasePhone(gateway, phone)
