import type { Command } from 'commander'
import { ask } from './ask.ts'
import { type CliContext, CliError, type OperatorRequest, type Run } from './context.ts'

interface Owner {
  tenant?: string
  app?: string
}

/** Adds the commands for triggers. They act as an app of the tenant. */
export function addTriggers(program: Command, contextOf: () => CliContext, run: Run): void {
  const trigger = program
    .command('trigger-subscription')
    .alias('trigger-subscriptions')
    .description("Manage triggers: further addresses that receive a tenant's inbound messages")
  const command = (name: string, description: string): Command =>
    trigger.command(name).description(description).requiredOption('--tenant <tenant>', 'tenant id')
  const requestOf = async ({ tenant = '' }: Owner, request: OperatorRequest): Promise<OperatorRequest> => ({
    ...request,
    appId: await oldestApp(contextOf(), tenant),
  })
  command('create', 'Add an address and show its secret, once')
    .requiredOption('--callback-url <url>', 'address that inbound messages are POSTed to')
    .action(async ({ callbackUrl, ...owner }: Owner & { callbackUrl: string }) =>
      run(await requestOf(owner, { method: 'POST', path: '/v1/triggers', body: { callbackUrl } })),
    )
  command('list', "List a tenant's triggers").action(async (owner: Owner) =>
    run(await requestOf(owner, { method: 'GET', path: '/v1/triggers' }), {
      show: ({ triggers }: { triggers: unknown[] }) => triggers,
    }),
  )
  command('delete', 'Delete a trigger')
    .argument('<trigger>', 'trigger id')
    .action(async (triggerId: string, owner: Owner) =>
      run(await requestOf(owner, { method: 'DELETE', path: `/v1/triggers/${encodeURIComponent(triggerId)}` })),
    )
}

/** The oldest active app of a tenant. */
async function oldestApp(context: CliContext, tenantId: string): Promise<string> {
  const path = `/v1/operator/apps?${new URLSearchParams({ tenantId })}`
  const { apps } = (await ask(context, { method: 'GET', path })) as { apps: { appId: string; isActive: boolean }[] }
  const app = apps.find(({ isActive }) => isActive)
  if (app === undefined) throw new CliError(`${tenantId} has no active app: sgw app create --tenant TENANT makes one`)
  return app.appId
}
