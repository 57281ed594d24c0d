import type { Command } from 'commander'
import type { Trigger } from '../client/resource-types.ts'
import { ask } from './ask.ts'
import type { CliContext, Run } from './context.ts'
import { addInbound } from './development-commands.ts'
import { type Owner, addOwner, requireOwner } from './filters.ts'
import { print } from './print.ts'
import { actingApp, actingApps, askOwner } from './tenant-scope.ts'

/** Adds the commands for triggers. The names of release 1.0.0 keep working, and help does not show them. */
export function addTriggers(program: Command, contextOf: () => CliContext, run: Run): void {
  const trigger = program
    .command('trigger')
    .alias('triggers')
    .description("Manage triggers: additional addresses that receive a tenant's inbound messages")
  addVerbs(trigger, contextOf, run, addOwner, (triggers) => ({ triggers }))
  const inbound = trigger.command('sms_inbound', { hidden: true }).description('See sgw simulate inbound')
  addInbound(inbound, contextOf, run)
  const old = program.command('trigger-subscription', { hidden: true }).alias('trigger-subscriptions')
  const withTenant = (command: Command): Command => command.requiredOption('--tenant <tenant>', 'tenant id')
  addVerbs(old.description('See sgw trigger'), contextOf, run, withTenant, (triggers) => triggers)
}

function addVerbs(
  trigger: Command,
  contextOf: () => CliContext,
  run: Run,
  withOwner: (command: Command) => Command,
  jsonOf: (triggers: Trigger[]) => unknown,
): void {
  withOwner(
    trigger
      .command('create')
      .description('Create a trigger, which posts inbound messages to one more URL, and show its secret once'),
  )
    .requiredOption('--callback-url <url>', 'address to which inbound messages are posted')
    .action(async ({ callbackUrl, ...owner }: Owner & { callbackUrl: string }, command: Command) => {
      requireOwner(command, owner)
      const appId = await actingApp(contextOf(), owner)
      await run({ method: 'POST', path: '/v1/triggers', body: { callbackUrl }, appId })
    })
  withOwner(trigger.command('list').description('List the triggers of all tenants')).action(async (owner: Owner) => {
    const context = contextOf()
    const triggers = await allTriggers(context, owner)
    print(context, context.json ? jsonOf(triggers) : triggers)
  })
  withOwner(trigger.command('delete').description('Delete a trigger'))
    .argument('<trigger>', 'trigger id (sgw trigger list)')
    .action(async (triggerId: string, owner: Owner) => {
      const request = { method: 'DELETE', path: `/v1/triggers/${encodeURIComponent(triggerId)}` } as const
      if (owner.app !== undefined) return run({ ...request, appId: owner.app })
      print(contextOf(), (await askOwner(contextOf(), request, owner.tenant)).answer)
    })
}

async function allTriggers(context: CliContext, { app, tenant }: Owner): Promise<Trigger[]> {
  const apps = app === undefined ? await actingApps(context, tenant) : [{ appId: app }]
  const triggers: Trigger[] = []
  for (const { appId } of apps) {
    const answer = (await ask(context, { method: 'GET', path: '/v1/triggers', appId })) as { triggers: Trigger[] }
    triggers.push(...answer.triggers)
  }
  return triggers
}
