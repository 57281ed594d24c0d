import { z } from 'zod'
import { WAITING_REASONS } from '../../core/waiting-reasons.ts'
import { time } from './answer-fields.ts'

/** Why a message has not been sent yet. */
export const ShownWaiting = z
  .object({
    reason: z.enum(WAITING_REASONS).meta({ id: 'WaitingReason' }),
    until: time.optional().meta({ description: 'When that ends, if it is known' }),
  })
  .meta({ id: 'Waiting' })
  .nullable()
  .meta({ description: 'Why the message has not been sent yet; null if nothing holds it' })
