import { consolePages } from '../console/pages.ts'
import { appsRoutes } from '../api/apps/routes.ts'
import { conversationsRoutes } from '../api/conversations/routes.ts'
import { eventsRoutes, postedEvents } from '../api/events/routes.ts'
import { healthRoutes } from '../api/health/routes.ts'
import { mediaRoutes } from '../api/media/routes.ts'
import { meRoutes } from '../api/me/routes.ts'
import { optOutsRoutes } from '../api/opt-outs/routes.ts'
import { overviewRoutes } from '../api/overview/routes.ts'
import { rcRoutes } from '../api/rc/routes.ts'
import { smsRoutes } from '../api/sms/routes.ts'
import { triggersRoutes } from '../api/triggers/routes.ts'
import { usageRoutes } from '../api/usage/routes.ts'
import { webhookDeliveriesRoutes } from '../api/webhook-deliveries/routes.ts'
import { webhooksRoutes } from '../api/webhooks/routes.ts'
import { wsRoutes } from '../api/ws/routes.ts'
import type { Gateway } from '../messages/gateway.ts'
import { home } from '../api/http/home.ts'
import { openApi } from '../api/http/openapi/pages.ts'
import type { Route } from '../api/http/route.ts'
import { type Server, createServer } from '../api/http/server.ts'
import { localRoutes } from '../operator/local-routes.ts'
import { alertsRoutes } from '../operator/alert-routes.ts'
import { allTenantsRoutes } from '../operator/all-tenants-routes.ts'
import { operatorRoutes } from '../operator/routes.ts'
import { simulatorRoutes } from '../operator/simulator-routes.ts'

/** The endpoints of apps. The folder in `api/` is the first segment of the URL after `/v1`. */
const APP_ROUTES: readonly Route[] = [
  ...healthRoutes,
  ...smsRoutes,
  ...mediaRoutes,
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

/** Every documented endpoint of the gateway. */
export const ROUTES: readonly Route[] = [...APP_ROUTES, ...operatorRoutes, ...alertsRoutes, ...allTenantsRoutes]

/** The HTTP side of the gateway: the request pipeline, the endpoints and the documentation. */
export function createHttpServer(gateway: Gateway): Server {
  const { console, production, provider } = gateway.config
  const simulated = provider.simulated && !production
  const documented = { routes: console ? ROUTES : APP_ROUTES, events: postedEvents, simulated: console && simulated }
  if (!console) return createServer(gateway, APP_ROUTES, { pages: openApi(documented) })
  const more = simulated ? simulatorRoutes : []
  return createServer(gateway, [...ROUTES, ...more], {
    pages: [home, ...openApi(documented), ...consolePages(gateway)],
  })
}

/** The same endpoints plus those for the operator on this machine, for the Unix socket and for commands without a server. */
export const createLocalServer = (gateway: Gateway): Server =>
  createServer(gateway, [...ROUTES, ...simulatorRoutes, ...localRoutes], { local: true })
