import { z } from 'zod'
import { errorTexts } from '../core/errors.ts'
import { jsonAnswer } from '../core/json-answer.ts'
import { AppParams, RotatedKey, RotatedSecret, registration } from '../api/apps/schemas.ts'
import { Done } from '../api/http/done.ts'
import { route } from '../api/http/route.ts'
import { isFromOwnPage, isFromThisMachine } from '../api/http/this-machine.ts'
import { activateApp, createApp, deactivateApp, listApps, rotateAppKey, rotateAppWebhookSecret } from './apps.ts'
import { connectJwt } from './connect-jwt.ts'
import { diagnose } from './doctor/diagnose.ts'
import { Finding } from './doctor/finding.ts'
import {
  AppList,
  AppsQuery,
  ConnectJwtBody,
  ConnectedByJwt,
  SessionAnswer,
  SessionBody,
  Tenant,
  TenantBody,
  TenantList,
  TenantParams,
  TenantStatusBody,
  TenantsQuery,
} from './schemas.ts'
import { resendMessages } from './resend-messages.ts'
import { ResendAnswer, ResendBody } from './resend-schemas.ts'
import { endSession, openSession } from './session.ts'
import { StatusReport, readStatus } from './status.ts'
import { createTenant, listTenants, setTenantStatus } from './tenants.ts'

const common = { auth: 'operator', tag: 'Operator' } as const
const appErrors = { 400: errorTexts('badAppId'), 404: errorTexts('appNotFound') }

/** The operator's endpoints on the listener and on the Unix socket. */
export const operatorRoutes = [
  route({
    operationId: 'createOperatorSession',
    method: 'POST',
    path: '/v1/operator/session',
    auth: 'none',
    tag: 'Operator',
    summary: 'Sign in as an operator, with the login of a link',
    description:
      '`sgw console` on the gateway’s machine prints a link that signs in once, within ten minutes. In development a page of the gateway itself, opened on its machine, needs no login while the built-in simulator is the provider.',
    body: SessionBody,
    secret: true,
    response: SessionAnswer,
    errors: { 400: errorTexts('badJson'), 401: errorTexts('badLogin'), 429: errorTexts('tooMany') },
    run: ({ gateway, context, body }) =>
      openSession(gateway, {
        login: body.login,
        address: context.address,
        isFromThisMachine: isFromThisMachine(context),
        isFromOwnPage: isFromOwnPage(context),
      }),
  }),
  route({
    ...common,
    operationId: 'endOperatorSession',
    method: 'DELETE',
    path: '/v1/operator/session',
    summary: 'Sign out; the sockets of the session close',
    response: Done,
    run: ({ gateway, context }) => endSession(gateway, context.operator?.sessionId ?? null),
  }),
  route({
    ...common,
    operationId: 'getOperatorStatus',
    method: 'GET',
    path: '/v1/operator/status',
    summary: 'Queue, extensions, subscriptions and backup, as `sgw status` shows them',
    response: StatusReport,
    run: ({ gateway }) => readStatus(gateway),
  }),
  route({
    ...common,
    operationId: 'runDoctor',
    method: 'GET',
    path: '/v1/operator/doctor',
    summary: 'Check everything that a gateway needs, as `sgw doctor` does',
    mayWait: true,
    response: z.array(Finding),
    run: ({ gateway }) => diagnose(gateway),
  }),
  route({
    ...common,
    operationId: 'listTenants',
    method: 'GET',
    path: '/v1/operator/tenants',
    summary: 'All tenants, oldest first',
    query: TenantsQuery,
    response: TenantList,
    run: ({ gateway, query }) => listTenants(gateway, query),
  }),
  route({
    ...common,
    operationId: 'createTenant',
    method: 'POST',
    path: '/v1/operator/tenants',
    summary: 'Create a tenant',
    body: TenantBody,
    status: 201,
    response: Tenant,
    errors: { 400: errorTexts('badName', 'badJson') },
    run: ({ gateway, body }) => createTenant(gateway, body),
  }),
  route({
    ...common,
    operationId: 'setTenantStatus',
    method: 'PUT',
    path: '/v1/operator/tenants/:tenantId',
    summary: 'Suspend, activate or deactivate a tenant',
    description: 'The keys of a suspended or inactive tenant are refused, its messages wait, and its sockets close.',
    params: TenantParams,
    body: TenantStatusBody,
    response: Tenant,
    errors: { 400: errorTexts('badTenantId', 'badStatus', 'badJson'), 404: errorTexts('tenantNotFound') },
    run: ({ gateway, params, body }) => setTenantStatus(gateway, { ...params, ...body }),
  }),
  route({
    ...common,
    operationId: 'resendMessages',
    method: 'POST',
    path: '/v1/operator/messages/resend',
    summary: 'Send failed messages of a tenant again, as new messages of the same apps',
    description:
      'Oldest first, at most 10,000: repeat the request for more. A failed message is sent again at most once, no matter how often you ask. Cancelled ones are never sent again, nor those to contacts who have opted out of their number or of `from`. `unconfirmed` ones may have arrived: they are sent again only with `failure` `unconfirmed` and `messageIds`. With `dryRun` it only counts (200).',
    body: ResendBody,
    mayWait: true,
    status: 202,
    response: ResendAnswer,
    errors: {
      400: [
        ...errorTexts('badTenantId', 'badAppId', 'badFailedSince', 'badFailedUntil', 'badMessageId', 'badJson'),
        ...['failure', 'from', 'maxAgeMinutes', 'dryRun'].map((name) => `Invalid ${name}`),
      ],
      404: errorTexts('tenantNotFound'),
    },
    run: async ({ gateway, body }) => {
      const answer = await resendMessages(gateway, body)
      return body.dryRun ? jsonAnswer(answer) : answer
    },
  }),
  route({
    ...common,
    operationId: 'connectExtensionByJwt',
    method: 'POST',
    path: '/v1/operator/extensions',
    summary: 'Connect the extension of a JWT to a tenant, or connect it again',
    description:
      'The JWT is that of a user, made in RingCentral’s developer console for an app whose authentication is JWT auth flow. It is stored encrypted, and never shown again. Over plain HTTP only from this machine.',
    body: ConnectJwtBody,
    mayWait: true,
    response: ConnectedByJwt,
    errors: {
      400: errorTexts('badTenantId', 'badJwt', 'badJson'),
      403: errorTexts('httpsRequired'),
      404: errorTexts('tenantNotFound'),
      409: ['The tenant is connected to another RingCentral account: use another tenant'],
    },
    run: ({ gateway, context, body }) => connectJwt(gateway, body, context.requestId),
  }),
  route({
    ...common,
    operationId: 'listAllApps',
    method: 'GET',
    path: '/v1/operator/apps',
    summary: 'The apps of a tenant or of all, oldest first',
    query: AppsQuery,
    response: AppList,
    errors: { 400: errorTexts('badTenantId', 'badAppId'), 404: errorTexts('tenantNotFound') },
    run: ({ gateway, query }) => listApps(gateway, query),
  }),
  route({
    ...common,
    operationId: 'createApp',
    method: 'POST',
    path: '/v1/operator/apps',
    summary: 'Create an app of a tenant',
    ...registration,
    run: ({ gateway, body }) => createApp(gateway, body),
  }),
  route({
    ...common,
    operationId: 'rotateAppKeyAsOperator',
    method: 'POST',
    path: '/v1/operator/apps/:appId/rotate-key',
    summary: 'A new key for an app; the old one stops working at once',
    params: AppParams,
    secret: true,
    response: RotatedKey,
    errors: { ...appErrors, 409: errorTexts('appInactive') },
    run: ({ gateway, params }) => rotateAppKey(gateway, params),
  }),
  route({
    ...common,
    operationId: 'rotateWebhookSecretAsOperator',
    method: 'POST',
    path: '/v1/operator/apps/:appId/rotate-webhook-secret',
    summary: 'A new webhook secret for an app; it signs all later deliveries',
    params: AppParams,
    secret: true,
    response: RotatedSecret,
    errors: { ...appErrors, 409: errorTexts('appInactive') },
    run: ({ gateway, params }) => rotateAppWebhookSecret(gateway, params),
  }),
  route({
    ...common,
    operationId: 'deactivateAppAsOperator',
    method: 'POST',
    path: '/v1/operator/apps/:appId/deactivate',
    summary: 'Deactivate an app; its key stops working at once',
    params: AppParams,
    response: Done,
    errors: appErrors,
    run: ({ gateway, params }) => deactivateApp(gateway, params),
  }),
  route({
    ...common,
    operationId: 'activateApp',
    method: 'POST',
    path: '/v1/operator/apps/:appId/activate',
    summary: 'Activate an inactive app and give it a new key',
    params: AppParams,
    secret: true,
    response: RotatedKey,
    errors: { ...appErrors, 409: [...errorTexts('appActive'), 'Tenant has reached its limit of 100 apps'] },
    run: ({ gateway, params }) => activateApp(gateway, params),
  }),
]
