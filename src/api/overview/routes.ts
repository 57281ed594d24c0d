import { route } from '../http/route.ts'
import { getOverview } from './get-overview.ts'
import { Overview, OverviewQuery } from './schemas.ts'

export const overviewRoutes = [
  route({
    operationId: 'getOverview',
    method: 'GET',
    path: '/v1/overview',
    auth: 'app',
    tag: 'Usage',
    summary: "The tenant's messages at a glance",
    description: 'Always 48 buckets of equal length, a whole number of half hours; `from` is the start of the first.',
    query: OverviewQuery,
    mayWait: true,
    response: Overview,
    run: ({ gateway, caller, query }) => getOverview(gateway, caller, query),
  }),
]
