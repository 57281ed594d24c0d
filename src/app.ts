import { consolePages } from './console/pages.ts'
import { appsRoutes } from './features/apps/routes.ts'
import { conversationsRoutes } from './features/conversations/routes.ts'
import { eventsRoutes } from './features/events/routes.ts'
import { healthRoutes } from './features/health/routes.ts'
import { meRoutes } from './features/me/routes.ts'
import { optOutsRoutes } from './features/opt-outs/routes.ts'
import { overviewRoutes } from './features/overview/routes.ts'
import { rcRoutes } from './features/rc/routes.ts'
import { smsRoutes } from './features/sms/routes.ts'
import { triggersRoutes } from './features/triggers/routes.ts'
import { usageRoutes } from './features/usage/routes.ts'
import { webhookDeliveriesRoutes } from './features/webhook-deliveries/routes.ts'
import { webhooksRoutes } from './features/webhooks/routes.ts'
import { wsRoutes } from './features/ws/routes.ts'
import type { Gateway } from './gateway.ts'
import { openApi } from './http/openapi.ts'
import { type Server, createServer } from './http/server.ts'

/** Every endpoint of the gateway. The folder in `features/` is the first segment of the URL after `/v1`. */
export const ROUTES = [
  ...healthRoutes,
  ...smsRoutes,
  ...appsRoutes,
  ...rcRoutes,
  ...webhooksRoutes,
  ...webhookDeliveriesRoutes,
  ...triggersRoutes,
  ...optOutsRoutes,
  ...conversationsRoutes,
  ...meRoutes,
  ...usageRoutes,
  ...overviewRoutes,
  ...wsRoutes,
  ...eventsRoutes,
]

/** The HTTP side of the gateway: the request pipeline, the endpoints and the documentation. */
export const createApp = (gateway: Gateway): Server =>
  createServer(gateway, ROUTES, [...openApi(ROUTES), ...consolePages(gateway)])
