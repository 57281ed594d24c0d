import { route } from '../api/http/route.ts'
import { readTenantsOverview } from './overview.ts'
import { TenantsOverview, TenantsOverviewQuery } from './overview-schemas.ts'

/** The operator's endpoints about all tenants at once. */
export const allTenantsRoutes = [
  route({
    auth: 'operator',
    tag: 'Operator',
    operationId: 'getTenantsOverview',
    method: 'GET',
    path: '/v1/operator/overview',
    summary: 'All tenants at a glance, those in trouble first',
    description:
      'Counts as `GET /v1/overview` of each tenant does, over the same range: whole half hours, at least `hours`; `from` is the start of the first bucket.',
    query: TenantsOverviewQuery,
    mayWait: true,
    response: TenantsOverview,
    run: ({ gateway, query }) => readTenantsOverview(gateway, query),
  }),
]
