import { errorTexts } from '../../core/errors.ts'
import { MAX_LISTED } from '../../core/limits.ts'
import { Done } from '../http/done.ts'
import { RetryPolicySetting } from '../http/retry-policy.ts'
import { type Route, route } from '../http/route.ts'
import { listApps } from './list-apps.ts'
import { register } from './register.ts'
import { rotateKey } from './rotate-key.ts'
import { rotateWebhookSecret } from './rotate-webhook-secret.ts'
import {
  AppList,
  AppParams,
  RotatedKey,
  RotatedSecret,
  TestResult,
  UpdateBody,
  WebhookEvents,
  WebhookEventsBody,
  registration,
} from './schemas.ts'
import { testWebhook } from './test-webhook.ts'
import { readWebhookEvents, setWebhookEvents } from './webhook-events.ts'
import { readWebhookRetries, setWebhookRetries } from './webhook-retries.ts'
import { deactivateApp, updateApp } from './update-app.ts'

const common = { auth: 'app', tag: 'Apps' } as const
const ownAppErrors: Route['errors'] = { 400: errorTexts('badAppId'), 404: errorTexts('appNotFound') }

export const appsRoutes = [
  route({
    ...common,
    operationId: 'registerApp',
    method: 'POST',
    path: '/v1/apps/register',
    summary: 'Register an app of your tenant',
    ...registration,
    errors: { ...registration.errors, 403: errorTexts('forbidden') },
    run: ({ gateway, caller, body }) => register(gateway, caller, body),
  }),
  route({
    ...common,
    operationId: 'listApps',
    method: 'GET',
    path: '/v1/apps',
    summary: "The tenant's apps, oldest first",
    description: `Includes inactive apps. With more than ${MAX_LISTED} apps, the list has the oldest ${MAX_LISTED} active ones and the newest ${MAX_LISTED} of all.`,
    response: AppList,
    run: ({ gateway, caller }) => listApps(gateway, caller),
  }),
  route({
    ...common,
    operationId: 'updateApp',
    method: 'PUT',
    path: '/v1/apps/:appId',
    summary: 'Set or remove the webhook address, or deactivate',
    params: AppParams,
    body: UpdateBody,
    priority: ['badAppId', 'badJson', 'badWebhookUrl', 'badIsActive'],
    response: Done,
    errors: { 400: errorTexts('badAppId', 'badWebhookUrl', 'badIsActive', 'badJson'), 404: errorTexts('appNotFound') },
    run: ({ gateway, caller, params, body }) => updateApp(gateway, caller, params.appId, body),
  }),
  route({
    ...common,
    operationId: 'deactivateApp',
    method: 'DELETE',
    path: '/v1/apps/:appId',
    summary: 'Deactivate the app; its key stops working at once',
    params: AppParams,
    response: Done,
    errors: ownAppErrors,
    run: ({ gateway, caller, params }) => deactivateApp(gateway, caller, params.appId),
  }),
  route({
    ...common,
    operationId: 'rotateAppKey',
    method: 'POST',
    path: '/v1/apps/:appId/rotate-key',
    summary: 'A new API key; the old one stops working at once',
    params: AppParams,
    secret: true,
    response: RotatedKey,
    errors: ownAppErrors,
    run: ({ gateway, caller, params }) => rotateKey(gateway, caller, params.appId),
  }),
  route({
    ...common,
    operationId: 'rotateWebhookSecret',
    method: 'POST',
    path: '/v1/apps/:appId/rotate-webhook-secret',
    summary: 'A new webhook secret',
    params: AppParams,
    secret: true,
    response: RotatedSecret,
    errors: ownAppErrors,
    run: ({ gateway, caller, params }) => rotateWebhookSecret(gateway, caller, params.appId),
  }),
  route({
    ...common,
    operationId: 'testWebhook',
    method: 'POST',
    path: '/v1/apps/:appId/test-webhook',
    summary: "POST a signed test payload to the app's webhook address",
    description: "With the app's own key. docs/receive.md in the gateway's source shows how a receiver verifies it.",
    params: AppParams,
    response: TestResult,
    errors: { 400: errorTexts('badAppId', 'noWebhookUrl'), 404: errorTexts('appNotFound') },
    run: ({ gateway, caller, params }) => testWebhook(gateway, caller, params.appId),
  }),
  route({
    ...common,
    operationId: 'getAppRetries',
    method: 'GET',
    path: '/v1/apps/:appId/webhook-retries',
    summary: 'How failed deliveries to the app are retried',
    params: AppParams,
    response: RetryPolicySetting,
    errors: ownAppErrors,
    run: ({ gateway, caller, params }) => readWebhookRetries(gateway, caller, params.appId),
  }),
  route({
    ...common,
    operationId: 'setAppRetries',
    method: 'PUT',
    path: '/v1/apps/:appId/webhook-retries',
    summary: 'Set how failed deliveries to the app are retried',
    params: AppParams,
    body: RetryPolicySetting,
    priority: ['badAppId', 'badJson', 'badPolicy'],
    response: Done,
    errors: { 400: errorTexts('badAppId', 'badPolicy', 'badJson'), 404: errorTexts('appNotFound') },
    run: ({ gateway, caller, params, body }) => setWebhookRetries(gateway, caller, params.appId, body.policy),
  }),
  route({
    ...common,
    operationId: 'getAppEvents',
    method: 'GET',
    path: '/v1/apps/:appId/webhook-events',
    summary: "Which events are posted to the app's webhook address",
    params: AppParams,
    response: WebhookEvents,
    errors: ownAppErrors,
    run: ({ gateway, caller, params }) => readWebhookEvents(gateway, caller, params.appId),
  }),
  route({
    ...common,
    operationId: 'setAppEvents',
    method: 'PUT',
    path: '/v1/apps/:appId/webhook-events',
    summary: "Set which events are posted to the app's webhook address",
    description:
      '`sms_status` is posted for `sent` and `failed`, to the app that sent the message, in the fields of the WebSocket event.',
    params: AppParams,
    body: WebhookEventsBody,
    priority: ['badAppId', 'badJson', 'badEvents'],
    response: Done,
    errors: { 400: errorTexts('badAppId', 'badEvents', 'badJson'), 404: errorTexts('appNotFound') },
    run: ({ gateway, caller, params, body }) => setWebhookEvents(gateway, caller, params.appId, body.events),
  }),
]
