import { errorTexts } from '../core/errors.ts'
import { Done } from '../api/http/done.ts'
import { route } from '../api/http/route.ts'
import { Alerts } from './schemas.ts'
import { listAlerts } from './alerts/list-alerts.ts'
import { muteAlert, unmuteAlert } from './alerts/mute-alert.ts'
import { AlertParams, MuteBody, MutedQuery } from './alert-schemas.ts'

const common = { auth: 'operator', tag: 'Operator' } as const

/** The operator's endpoints about alerts. */
export const alertsRoutes = [
  route({
    ...common,
    operationId: 'listAlerts',
    method: 'GET',
    path: '/v1/operator/alerts',
    summary: 'What needs attention now',
    response: Alerts,
    run: ({ gateway }) => listAlerts(gateway),
  }),
  route({
    ...common,
    operationId: 'muteAlert',
    method: 'PUT',
    path: '/v1/operator/alerts/:alert/mute',
    summary: 'Mute a firing alert, for a time or until it is over',
    description:
      'Posts to `ALERT_URL` stop for that time. If the alert has not been posted and still fires when the mute ends, it is posted then; if it has, its end is posted. A subject that two tenants have is muted for both. A new mute replaces an earlier one of the same alert.',
    params: AlertParams,
    body: MuteBody,
    response: Done,
    errors: {
      400: errorTexts('badUntil', 'badJson'),
      404: errorTexts('alertNotFound'),
      409: errorTexts('alertNotMutable'),
    },
    run: ({ gateway, context, params, body }) =>
      muteAlert(gateway, { ...params, ...body }, context.operator?.sessionId ?? null),
  }),
  route({
    ...common,
    operationId: 'unmuteAlert',
    method: 'DELETE',
    path: '/v1/operator/alerts/:alert/mute',
    summary: 'End the mute of an alert',
    description: 'Does nothing to an alert that is not muted.',
    params: AlertParams,
    query: MutedQuery,
    response: Done,
    run: ({ gateway, context, params, query }) =>
      unmuteAlert(gateway, { ...params, ...query }, context.operator?.sessionId ?? null),
  }),
]
