import { errorTexts } from '../../core/errors.ts'
import { MAX_LISTED } from '../../core/limits.ts'
import { Done } from '../http/done.ts'
import { RetryPolicySetting } from '../http/retry-policy.ts'
import { route } from '../http/route.ts'
import { createTrigger } from './create-trigger.ts'
import { deleteTrigger } from './delete-trigger.ts'
import { listTriggers } from './list-triggers.ts'
import { CreateTriggerBody, CreatedTrigger, TriggerList, TriggerParams } from './schemas.ts'
import { readWebhookRetries, setWebhookRetries } from './webhook-retries.ts'

const common = { auth: 'app', tag: 'Triggers' } as const

export const triggersRoutes = [
  route({
    ...common,
    operationId: 'createTrigger',
    method: 'POST',
    path: '/v1/triggers',
    summary: "Subscribe an address to the tenant's inbound messages",
    description:
      "The gateway POSTs to it what it POSTs to an app's webhookUrl, with `triggerId` added, signed with its own secret. An answer of 410 deletes the trigger.",
    body: CreateTriggerBody,
    priority: ['badCallbackUrl'],
    secret: true,
    status: 201,
    response: CreatedTrigger,
    errors: { 400: errorTexts('badCallbackUrl', 'badJson'), 409: ['Tenant has reached its limit of 50 triggers'] },
    run: ({ gateway, caller, body }) => createTrigger(gateway, caller, body),
  }),
  route({
    ...common,
    operationId: 'listTriggers',
    method: 'GET',
    path: '/v1/triggers',
    summary: `The tenant's triggers, oldest first, at most ${MAX_LISTED}`,
    response: TriggerList,
    run: ({ gateway, caller }) => listTriggers(gateway, caller),
  }),
  route({
    ...common,
    operationId: 'deleteTrigger',
    method: 'DELETE',
    path: '/v1/triggers/:triggerId',
    summary: 'Remove a trigger',
    params: TriggerParams,
    response: Done,
    errors: { 400: errorTexts('badTriggerId'), 404: errorTexts('triggerNotFound') },
    run: ({ gateway, caller, params }) => deleteTrigger(gateway, caller, params.triggerId),
  }),
  route({
    ...common,
    operationId: 'getTriggerRetries',
    method: 'GET',
    path: '/v1/triggers/:triggerId/webhook-retries',
    summary: 'How failed deliveries to the trigger are tried again',
    params: TriggerParams,
    response: RetryPolicySetting,
    errors: { 400: errorTexts('badTriggerId'), 404: errorTexts('triggerNotFound') },
    run: ({ gateway, caller, params }) => readWebhookRetries(gateway, caller, params.triggerId),
  }),
  route({
    ...common,
    operationId: 'setTriggerRetries',
    method: 'PUT',
    path: '/v1/triggers/:triggerId/webhook-retries',
    summary: 'Set how failed deliveries to the trigger are tried again',
    params: TriggerParams,
    body: RetryPolicySetting,
    priority: ['badTriggerId', 'badJson', 'badPolicy'],
    response: Done,
    errors: { 400: errorTexts('badTriggerId', 'badPolicy', 'badJson'), 404: errorTexts('triggerNotFound') },
    run: ({ gateway, caller, params, body }) => setWebhookRetries(gateway, caller, params.triggerId, body.policy),
  }),
]
