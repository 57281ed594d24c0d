import type { Command } from 'commander'
import { MAX_DISMISSED_IDS } from '../core/limits.ts'
import { ask } from './ask.ts'
import type { CliContext } from './context.ts'
import { timeOf } from './filters.ts'
import { requireActive } from './find-app.ts'
import { print, sayNext } from './print.ts'
import { actingApps, askEach } from './tenant-scope.ts'

/** Adds the commands for deliveries that failed in a range of time: deliver them again, or stop counting them. */
export function addFailed(webhooks: Command, contextOf: () => CliContext): void {
  const recovery = webhooks
    .command('recover')
    .description('Attempt once more each delivery that failed in a given period and was not dismissed')
    .requiredOption('--since <time>', SINCE, timeOf)
  narrowed(recovery).action((options: Range) => recover(contextOf(), options))
  const dismissal = webhooks
    .command('dismiss')
    .description('Stop counting deliveries that never arrived: those that you name, or all in a given period')
    .argument('[delivery...]', 'delivery ids, as sgw webhooks list --state never_arrived shows them')
    .option('--since <time>', SINCE, timeOf)
  narrowed(dismissal).action((ids: string[], options: Range, command: Command) =>
    dismiss(contextOf(), wishesOf(ids, options, command), options),
  )
}

const SINCE = 'a date, a date-time with offset, or 2h for two hours ago'

const narrowed = (command: Command): Command =>
  command
    .option('--until <time>', 'now by default', timeOf)
    .option('--tenant <tenant>', 'only this tenant')
    .option('--app <app>', 'only deliveries to this app')
    .option('--trigger <trigger>', 'only deliveries to this trigger')

interface Range {
  since?: string
  until?: string
  tenant?: string
  app?: string
  trigger?: string
}

async function recover(context: CliContext, options: Range): Promise<void> {
  const scheduled = await askTenants(context, options, 'recover', 'scheduled', rangeOf(options))
  print(context, { scheduled })
  if (scheduled > 0) sayNext(context, 'To see the results: sgw webhooks list')
  else sayNext(context, 'No delivery whose latest attempt failed in that time still has an address: sgw webhooks list')
}

async function dismiss(context: CliContext, wishes: readonly object[], options: Range): Promise<void> {
  let dismissed = 0
  for (const wish of wishes) dismissed += await askTenants(context, options, 'dismiss', 'dismissed', wish)
  print(context, { dismissed })
  sayNext(context, 'Deliveries that never arrived and still count: sgw webhooks list --state never_arrived')
}

/** The bodies of the requests: a long list of ids takes several. Ends the command if the options name no deliveries. */
function wishesOf(ids: readonly string[], options: Range, command: Command): object[] {
  const { since, until, app, trigger } = options
  if (ids.length === 0) {
    if (since !== undefined) return [rangeOf(options)]
    return command.error("error: required argument 'delivery' or option '--since <time>' not specified", USAGE)
  }
  if ((since ?? until ?? app ?? trigger) !== undefined)
    return command.error('error: name deliveries, or a range of time with --since, not both', USAGE)
  return Array.from({ length: Math.ceil(ids.length / MAX_DISMISSED_IDS) }, (_, index) => ({
    deliveryIds: ids.slice(index * MAX_DISMISSED_IDS, (index + 1) * MAX_DISMISSED_IDS),
  }))
}

const USAGE = { exitCode: 2 }

const rangeOf = ({ since, until, app, trigger }: Range) => ({ since, until, appId: app, triggerId: trigger })

/** The sum of the answers of the active tenants, or the answer of the named tenant or of the app's. */
async function askTenants(
  context: CliContext,
  { app, tenant }: Range,
  verb: 'recover' | 'dismiss',
  field: 'scheduled' | 'dismissed',
  body: object,
): Promise<number> {
  if (app !== undefined) await requireActive(context, app)
  const owners = app === undefined ? await actingApps(context, tenant) : [{ appId: app, isActive: true }]
  const apps = owners.filter(({ isActive }) => isActive)
  const path = `/v1/webhook-deliveries/${verb}`
  const answers = await askEach(apps, ({ appId }) => ask(context, { method: 'POST', path, body, appId }))
  return answers.reduce<number>((sum, answer) => sum + Number((answer as Record<string, unknown>)[field]), 0)
}
