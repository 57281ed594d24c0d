import { WrittenJson, inPortions } from '../api/http/json-body.ts'
import { route } from '../api/http/route.ts'
import { prefers } from '../api/http/prefers-page.ts'
import { readTenantsOverview } from './overview.ts'
import { TenantsOverview, TenantsOverviewQuery } from './overview-schemas.ts'
import { CSV_EXAMPLE, CSV_FORMAT } from './usage-csv.ts'
import { JSON_FORMAT, currentMonth, writeMonth } from './usage.ts'
import { TenantsUsage, TenantsUsageQuery } from './usage-schemas.ts'

const common = { auth: 'operator', tag: 'Operator' } as const

/** The operator's endpoints about all tenants together. */
export const allTenantsRoutes = [
  route({
    ...common,
    operationId: 'getTenantsOverview',
    method: 'GET',
    path: '/v1/operator/overview',
    summary: 'All tenants at a glance, those in trouble first',
    description:
      'The counts match `GET /v1/overview` of each tenant over the same range: whole half hours, at least `hours`; `from` is the start of the first bucket.',
    query: TenantsOverviewQuery,
    mayWait: true,
    response: TenantsOverview,
    run: ({ gateway, query }) => readTenantsOverview(gateway, query),
  }),
  route({
    ...common,
    operationId: 'getTenantsUsage',
    method: 'GET',
    path: '/v1/operator/usage',
    summary: 'Messages and segments of a month, of all tenants',
    description:
      'Totals of each app, by the names of tenants and apps, and the UTC days, newest first, without those that have no traffic. The counts match `GET /v1/usage` of each tenant. With `Accept: text/csv`, the answer is a table that also has the names of tenants and apps: a header, the totals, which have no date, an empty line, and the days. A name that begins with `=`, `+`, `-` or `@` gets an apostrophe in front, so that spreadsheets do not read it as a formula.',
    query: TenantsUsageQuery,
    mayWait: true,
    response: TenantsUsage,
    csv: CSV_EXAMPLE,
    run: async ({ gateway, request, query: { month = currentMonth(gateway) } }) => {
      if (!prefers(request, 'text/csv')) return new WrittenJson(await writeMonth(gateway, month, JSON_FORMAT))
      return new Response(inPortions(await writeMonth(gateway, month, CSV_FORMAT)), {
        headers: {
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': `attachment; filename="usage-${month}.csv"`,
        },
      })
    },
  }),
]
