import { errorTexts } from '../../core/errors.ts'
import { MAX_DISMISSED_IDS, MAX_RECOVERED_DELIVERIES } from '../../core/limits.ts'
import { listAnswer } from '../http/list-answer.ts'
import { route } from '../http/route.ts'
import { DeliveryList } from './attempt.ts'
import { dismissDeliveries } from './dismiss.ts'
import { listDeliveries } from './list-deliveries.ts'
import { recoverDeliveries } from './recover.ts'
import { redeliver } from './redeliver.ts'
import {
  DeliveriesQuery,
  DeliveryParams,
  DismissBody,
  Dismissed,
  RecoverBody,
  Recovered,
  Redelivered,
} from './schemas.ts'

const common = { auth: 'app', tag: 'Webhooks' } as const

export const webhookDeliveriesRoutes = [
  route({
    ...common,
    operationId: 'listWebhookDeliveries',
    method: 'GET',
    path: '/v1/webhook-deliveries',
    summary: 'The log of webhook POSTs, newest first, kept for 30 days',
    query: DeliveriesQuery,
    mayWait: true,
    response: DeliveryList,
    errors: {
      403: errorTexts('forbidden'),
    },
    run: async ({ gateway, caller, query }) =>
      listAnswer('attempts', query, await listDeliveries(gateway, caller, query)),
  }),
  route({
    ...common,
    operationId: 'redeliverWebhook',
    method: 'POST',
    path: '/v1/webhook-deliveries/:deliveryId/redeliver',
    summary: 'Attempt a delivery once more',
    description:
      'You can repeat a delivery that succeeded, too. A waiting retry is made now, and its schedule continues from there.',
    params: DeliveryParams,
    status: 202,
    response: Redelivered,
    errors: {
      404: errorTexts('deliveryNotFound'),
      409: errorTexts('deliveryInProgress', 'deliveryWithoutDestination'),
    },
    run: ({ gateway, caller, params }) => redeliver(gateway, caller, params.deliveryId),
  }),
  route({
    ...common,
    operationId: 'recoverWebhooks',
    method: 'POST',
    path: '/v1/webhook-deliveries/recover',
    summary: 'Attempt again every delivery that failed in a range of time',
    description: `Takes the deliveries whose latest attempt failed in this range and was not dismissed, the oldest ${MAX_RECOVERED_DELIVERIES} at most.`,
    body: RecoverBody,
    priority: ['badSince', 'badUntil', 'forbidden'],
    mayWait: true,
    status: 202,
    response: Recovered,
    errors: { 400: errorTexts('badSince', 'badUntil', 'badJson'), 403: errorTexts('forbidden') },
    run: ({ gateway, caller, body }) => recoverDeliveries(gateway, caller, body),
  }),
  route({
    ...common,
    operationId: 'dismissWebhooks',
    method: 'POST',
    path: '/v1/webhook-deliveries/dismiss',
    summary: 'Stop counting deliveries that never arrived',
    description: `Of \`deliveryIds\`, at most ${MAX_DISMISSED_IDS}, or of all whose latest attempt failed in a range of time: those that \`state=never_arrived\` lists. One that is delivered again and fails counts again.`,
    body: DismissBody,
    maxBodyEntries: MAX_DISMISSED_IDS,
    priority: ['badDeliveryIds', 'badSince', 'badUntil', 'forbidden'],
    mayWait: true,
    response: Dismissed,
    errors: {
      400: errorTexts('badDeliveryIds', 'badSince', 'badUntil', 'badJson'),
      403: errorTexts('forbidden'),
    },
    run: ({ gateway, caller, body }) => dismissDeliveries(gateway, caller, body),
  }),
]
