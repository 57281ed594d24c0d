import { z } from 'zod'
import { time, triggerId } from '../fields/answer-fields.ts'
import { TRIGGER_ID } from '../../core/ids.ts'
import { MAX_WEBHOOK_URL_LENGTH } from '../../core/limits.ts'
import { fails } from '../http/route.ts'

export const CreateTriggerBody = z
  .object(
    {
      callbackUrl: z
        .string(fails('badCallbackUrl'))
        .min(1, fails('badCallbackUrl'))
        .max(MAX_WEBHOOK_URL_LENGTH, fails('badCallbackUrl'))
        .meta({
          description: 'https:// in production, http:// accepted elsewhere; at most 2000 characters',
          format: 'uri',
          example: 'https://example.com/inbound',
        }),
    },
    fails('badCallbackUrl'),
  )
  .meta({ id: 'CreateTriggerRequest' })
export type CreateTriggerBody = z.output<typeof CreateTriggerBody>

export const TriggerParams = z.object({
  triggerId: z
    .string()
    .regex(TRIGGER_ID, fails('badTriggerId'))
    .meta({ description: 'The trigger', example: 'trg_0123456789abcdef' }),
})

export const Trigger = z
  .object({
    triggerId,
    callbackUrl: z.string().meta({ example: 'https://example.com/inbound' }),
    createdAt: time,
  })
  .meta({ id: 'Trigger' })
export const TriggerList = z.object({ triggers: z.array(Trigger) }).meta({ id: 'TriggerList' })
export type Trigger = z.infer<typeof Trigger>

export const CreatedTrigger = Trigger.extend({
  secret: z.string().meta({ description: 'Shown once', example: 'whsec_…' }),
}).meta({
  id: 'CreatedTrigger',
})
export type CreatedTrigger = z.infer<typeof CreatedTrigger>
