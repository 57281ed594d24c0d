import { errorTexts } from '../../core/errors.ts'
import { MAX_RECOVERED_DELIVERIES } from '../../core/limits.ts'
import { listAnswer } from '../http/list-answer.ts'
import { route } from '../http/route.ts'
import { DeliveryList } from './attempt.ts'
import { listDeliveries } from './list-deliveries.ts'
import { recoverDeliveries } from './recover.ts'
import { redeliver } from './redeliver.ts'
import { DeliveriesQuery, DeliveryParams, RecoverBody, Recovered, Redelivered } from './schemas.ts'

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
    summary: 'Make one more attempt of a delivery',
    description:
      'A delivery that succeeded can be made again, too. A waiting retry is made now, and its schedule continues from there.',
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
    summary: 'Make one more attempt of each delivery that failed in a range of time',
    description: `Takes the deliveries whose latest attempt failed in this range, the oldest ${MAX_RECOVERED_DELIVERIES} at most.`,
    body: RecoverBody,
    priority: ['badSince', 'badUntil', 'forbidden'],
    mayWait: true,
    status: 202,
    response: Recovered,
    errors: { 400: errorTexts('badSince', 'badUntil', 'badJson'), 403: errorTexts('forbidden') },
    run: ({ gateway, caller, body }) => recoverDeliveries(gateway, caller, body),
  }),
]
