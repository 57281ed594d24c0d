import { z } from 'zod'
import { DELIVERY_CONCLUSIONS } from '../../db/schema/delivery-states.ts'

/** What happened to an outbound message after `sent`; null before. */
export const DeliveryStatus = z
  .enum(['pending', ...DELIVERY_CONCLUSIONS])
  .meta({ id: 'DeliveryStatus', description: '`pending` until the provider says more; `unknown` if it never did' })
  .nullable()
  .meta({
    description: 'What became of the message after `sent`; null if it was not sent',
  })

/** Why a message was not delivered after it was sent. */
export const DeliveryError = z
  .object({
    code: z.string().nullable().meta({ description: "The provider's code; null if it named none" }),
    reason: z.string().meta({ description: 'In plain words' }),
  })
  .meta({ id: 'DeliveryError', example: { code: 'SMS-CAR-430', reason: 'Refused as spam' } })
