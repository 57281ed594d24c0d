import { consolePages } from './console/pages.ts'
import { appsRoutes } from './features/apps/routes.ts'
import { conversationsRoutes } from './features/conversations/routes.ts'
import { eventsRoutes, postedEvents } from './features/events/routes.ts'
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
import { home } from './http/home.ts'
import { openApi } from './http/openapi/pages.ts'
import type { Route } from './http/route.ts'
import { type Server, createServer } from './http/server.ts'
import { localRoutes } from './operator/local-routes.ts'
import { operatorRoutes } from './operator/routes.ts'
import { simulatorRoutes } from './operator/simulator-routes.ts'

/** The endpoints of apps. The folder in `features/` is the first segment of the URL after `/v1`. */
const APP_ROUTES: readonly Route[] = [
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

/** Every documented endpoint of the gateway. */
export const ROUTES: readonly Route[] = [...APP_ROUTES, ...operatorRoutes]

/** The HTTP side of the gateway: the request pipeline, the endpoints and the documentation. */
export function createApp(gateway: Gateway): Server {
  const { console, production, provider } = gateway.config
  const simulated = provider.simulated && !production
  const documented = { routes: console ? ROUTES : APP_ROUTES, events: postedEvents, simulated: console && simulated }
  if (!console) return createServer(gateway, APP_ROUTES, { pages: openApi(documented) })
  const more = simulated ? simulatorRoutes : []
  return createServer(gateway, [...ROUTES, ...more], {
    pages: [home, ...openApi(documented), ...consolePages(gateway)],
  })
}

/** The same endpoints and those of this machine's operator alone, for the Unix socket and for commands without a server. */
export const createLocalApp = (gateway: Gateway): Server =>
  createServer(gateway, [...ROUTES, ...simulatorRoutes, ...localRoutes], { local: true })
