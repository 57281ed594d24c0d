import type { TenantItem, TenantList } from '../operator/schemas.ts'
import { ask } from './ask.ts'
import type { CliContext } from './context.ts'

/** All tenants, page by page. */
export async function allTenants(context: CliContext): Promise<TenantItem[]> {
  const tenants: TenantItem[] = []
  for (let page = 1; ; page++) {
    const answer = await ask(context, { method: 'GET', path: `/v1/operator/tenants?limit=100&page=${page}` })
    const { tenants: items, total } = answer as TenantList
    tenants.push(...items)
    if (items.length === 0 || tenants.length >= total) return tenants
  }
}

/** The names of tenants by their ids. */
export type TenantNames = ReadonlyMap<string, string>

/** The names of all tenants; empty if there is only one, which needs no name. */
export async function readTenantNames(context: CliContext): Promise<TenantNames> {
  const tenants = await allTenants(context)
  return new Map(tenants.length < 2 ? [] : tenants.map(({ tenantId, name }) => [tenantId, name]))
}

/** Adds the name after each tenant's id in a text for people. Commands stay unchanged, because people copy them. */
export const withNames = (names: TenantNames, text: string): string =>
  text.replace(/(?<!--tenant |tenant activate )\btenant_[0-9a-f]{16}\b/g, (id) => {
    const name = names.get(id)
    return name === undefined ? id : `${id} (${name})`
  })
