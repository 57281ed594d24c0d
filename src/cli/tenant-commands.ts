import type { Command } from 'commander'
import type { TenantItem } from '../operator/schemas.ts'
import type { CliContext, Run } from './context.ts'
import { print } from './print.ts'
import { allTenants } from './tenant-names.ts'

/** Adds the commands for tenants. */
export function addTenants(program: Command, contextOf: () => CliContext, run: Run): void {
  const tenant = program
    .command('tenant')
    .alias('tenants')
    .description('Manage tenants: the customers of this gateway. Their keys belong to their apps: sgw app --help')
  tenant
    .command('create')
    .description('Create a tenant')
    .requiredOption('--name <name>', 'name of the tenant, 1 to 100 characters')
    .action((body: { name: string }) => run({ method: 'POST', path: '/v1/operator/tenants', body, needs: 'nothing' }))
  tenant
    .command('list')
    .description('List all tenants')
    .action(async () => {
      const context = contextOf()
      const tenants = await allTenants(context)
      print(context, context.json ? tenants : tenants.map(withoutTime))
    })
  const statuses = {
    suspend: ['suspended', 'Suspend a tenant: keep its messages waiting, refuse its keys and close its sockets'],
    activate: ['active', 'Activate a suspended or inactive tenant, and send its waiting messages'],
    deactivate: ['inactive', 'Deactivate a tenant that has left: the same as suspend, under another name'],
  } as const
  for (const [verb, [status, description]] of Object.entries(statuses)) {
    tenant
      .command(verb)
      .description(description)
      .argument('<tenant>', 'tenant id (sgw tenant list)')
      .action((tenantId: string) =>
        run({ method: 'PUT', path: `/v1/operator/tenants/${encodeURIComponent(tenantId)}`, body: { status } }),
      )
  }
}

const withoutTime = ({ tenantId, name, status, apps, extensions }: TenantItem): Omit<TenantItem, 'createdAt'> => ({
  tenantId,
  name,
  status,
  apps,
  extensions,
})
