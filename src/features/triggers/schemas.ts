import { z } from 'zod'
import { TRIGGER_ID } from '../../core/ids.ts'
import { MAX_WEBHOOK_URL_LENGTH } from '../../core/limits.ts'
import { fails } from '../../http/route.ts'

export const CreateTriggerBody = z.object(
  {
    callbackUrl: z
      .string(fails('badCallbackUrl'))
      .min(1, fails('badCallbackUrl'))
      .max(MAX_WEBHOOK_URL_LENGTH, fails('badCallbackUrl'))
      .meta({ description: 'https:// in production, http:// accepted elsewhere; at most 2000 characters' }),
  },
  fails('badCallbackUrl'),
)
export type CreateTriggerBody = z.output<typeof CreateTriggerBody>

export const TriggerParams = z.object({ triggerId: z.string().regex(TRIGGER_ID, fails('badTriggerId')) })

export const Trigger = z.object({
  triggerId: z.string(),
  callbackUrl: z.string(),
  createdAt: z.string().meta({ format: 'date-time' }),
})
export type Trigger = z.infer<typeof Trigger>

export const CreatedTrigger = Trigger.extend({ secret: z.string().meta({ description: 'Shown once' }) })
export type CreatedTrigger = z.infer<typeof CreatedTrigger>
