import { z } from 'zod'
import { errorText } from '../../core/errors.ts'
import { listAnswer } from '../../http/list-answer.ts'
import { route } from '../../http/route.ts'
import { DeliveryAttempt } from './attempt.ts'
import { listDeliveries } from './list-deliveries.ts'
import { DeliveriesQuery } from './schemas.ts'

export const webhookDeliveriesRoutes = [
  route({
    method: 'GET',
    path: '/v1/webhook-deliveries',
    auth: 'app',
    tag: 'Webhooks',
    summary: 'The log of webhook POSTs, newest first, kept for 30 days',
    query: DeliveriesQuery,
    status: 200,
    response: z.object({ attempts: z.array(DeliveryAttempt), total: z.int(), page: z.int(), limit: z.int() }),
    errors: {
      400: [
        errorText('badOutcome'),
        errorText('badKind'),
        errorText('badStartDate'),
        errorText('badEndDate'),
        errorText('badMessageIdFilter'),
      ],
      403: [errorText('forbidden')],
    },
    run: async ({ gateway, caller, query }) =>
      listAnswer('attempts', query, await listDeliveries(gateway, caller, query)),
  }),
]
