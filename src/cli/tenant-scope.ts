import type { AppList } from '../operator/schemas.ts'
import { Refused, ask } from './ask.ts'
import { type CliContext, CliError, type OperatorRequest } from './context.ts'
import type { Owner } from './filters.ts'

/** The app as which a tenant's endpoints are called. */
export interface ActingApp {
  appId: string
  tenantId: string
  tenantName: string
  isActive: boolean
}

/** One app of each tenant, or of the named tenant: its oldest active app, else its oldest. Errors: the tenant is not found. */
export async function actingApps(context: CliContext, tenantId?: string): Promise<ActingApp[]> {
  const query = tenantId === undefined ? '' : `?${new URLSearchParams({ tenantId })}`
  const { apps } = (await ask(context, { method: 'GET', path: `/v1/operator/apps${query}` })) as AppList
  const chosen = new Map<string, AppList['apps'][number]>()
  for (const app of apps) if (chosen.get(app.tenantId)?.isActive !== true) choose(chosen, app)
  return [...chosen.values()]
}

function choose(chosen: Map<string, AppList['apps'][number]>, app: AppList['apps'][number]): void {
  if (app.isActive || !chosen.has(app.tenantId)) chosen.set(app.tenantId, app)
}

/** The app that a command acts as: the named one, or an active one of the tenant. */
export async function actingApp(context: CliContext, { app, tenant }: Owner): Promise<string> {
  if (app !== undefined) return app
  const [found] = await actingApps(context, tenant)
  if (found?.isActive === true) return found.appId
  throw new CliError(`${tenant} has no active app: create one with sgw app create --tenant ${tenant} --name NAME`)
}

/**
 * Asks one tenant after another until one has what the request names. Returns the answer and the app that asked. A tenant that is not active
 * refuses changes, so the next one is asked; if none has it, the error says so.
 */
export async function askOwner(
  context: CliContext,
  request: OperatorRequest,
  tenantId?: string,
): Promise<{ answer: unknown; app: ActingApp }> {
  let missing = new CliError('There is no app yet: create one with sgw tenant create and sgw app create')
  let notActive: Refused | null = null
  for (const app of await actingApps(context, tenantId)) {
    try {
      return { answer: await ask(context, { ...request, appId: app.appId }), app }
    } catch (error) {
      if (!(error instanceof Refused) || (error.status !== 404 && error.status !== 403)) throw error
      if (error.status === 403) notActive = error
      else missing = error
    }
  }
  if (notActive === null) throw missing
  throw missing instanceof Refused
    ? new CliError(`${missing.message}; a tenant that is not active was left out`)
    : notActive
}

/** Each tenant's answer. Skips tenants that refuse because the app or trigger is not their own. Errors: all refuse. */
export async function askEach<App, Answer>(
  apps: readonly App[],
  answerOf: (app: App) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = []
  let refusal: Refused | null = null
  for (const app of apps)
    try {
      answers.push(await answerOf(app))
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 403) throw error
      refusal = error
    }
  if (answers.length === 0 && refusal !== null) throw refusal
  return answers
}

type Item = Readonly<Record<string, unknown>>

/** A page of a list. */
export interface ItemsPage {
  items: Item[]
  total: number
  page: number
  limit: number
}

export interface ListRequest {
  path: string
  /** The field of the answer that holds the items. */
  field: string
  query: Readonly<Record<string, string | undefined>>
  /** The time by which the items are sorted, newest first. */
  time: string
}

const MAX_LIMIT = 100

/** A page of a list over all tenants, newest first. For one tenant, the page is the endpoint's own. */
export async function listAll(context: CliContext, list: ListRequest, tenantId?: string): Promise<ItemsPage> {
  const apps = await actingApps(context, tenantId)
  const [only] = apps
  if (only !== undefined && apps.length === 1) return pageOf(context, list, only)
  const page = Math.max(1, Number(list.query['page'] ?? 1) || 1)
  const limit = Math.min(MAX_LIMIT, Math.max(1, Number(list.query['limit'] ?? 20) || 20))
  const found = await askEach(apps, (app) => newest(context, list, app, page * limit))
  const total = found.reduce((sum, each) => sum + each.total, 0)
  const timeOf = (item: Item): string => String(item[list.time])
  const sorted = found
    .flatMap(({ items }) => items)
    .toSorted((a, b) => (timeOf(a) < timeOf(b) ? 1 : timeOf(a) > timeOf(b) ? -1 : 0))
  return { items: sorted.slice((page - 1) * limit, page * limit), total, page, limit }
}

/** The newest items of one tenant, from as many pages as needed. */
async function newest(context: CliContext, list: ListRequest, app: ActingApp, count: number): Promise<ItemsPage> {
  const items: Item[] = []
  for (let page = 1; ; page++) {
    const query = { ...list.query, page: String(page), limit: String(MAX_LIMIT) }
    const answer = await pageOf(context, { ...list, query }, app)
    items.push(...answer.items)
    if (items.length >= Math.min(count, answer.total) || answer.items.length === 0) return { ...answer, items }
  }
}

async function pageOf(context: CliContext, { path, field, query }: ListRequest, app: ActingApp): Promise<ItemsPage> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const text = new URLSearchParams(given).toString()
  const answer = await ask(context, {
    method: 'GET',
    path: `${path}${text === '' ? '' : `?${text}`}`,
    appId: app.appId,
  })
  const { total, page, limit, [field]: items } = answer as Record<string, unknown>
  return { items: items as Item[], total: Number(total), page: Number(page), limit: Number(limit) }
}
