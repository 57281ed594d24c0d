import { route } from '../http/route.ts'
import { getUsage } from './get-usage.ts'
import { Usage, UsageQuery } from './schemas.ts'

export const usageRoutes = [
  route({
    operationId: 'getUsage',
    method: 'GET',
    path: '/v1/usage',
    auth: 'app',
    tag: 'Usage',
    summary: 'Messages and segments of each app, by day',
    description:
      'UTC days, newest first, without days that have no traffic. A message counts on the day of its outcome. Erased messages stay counted.',
    query: UsageQuery,
    mayWait: true,
    response: Usage,
    run: async ({ gateway, caller, query }) => ({ days: await getUsage(gateway, caller, query) }),
  }),
]
