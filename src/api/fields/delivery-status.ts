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
