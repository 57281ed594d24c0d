import type { Command } from 'commander'
import type { AppList } from '../operator/schemas.ts'
import { confirm } from './confirm.ts'
import type { CliContext, Run } from './context.ts'
import { type ListedApp, findApp, requireActive } from './find-app.ts'

/** Adds the commands for apps and their keys. */
export function addApps(program: Command, contextOf: () => CliContext, run: Run): void {
  const app = program
    .command('app')
    .alias('apps')
    .description('Manage apps: the programs that call the API, each with its own key')
  addCreateAndList(app, run)
  addUpdate(app, contextOf, run)
  app
    .command('activate')
    .argument('<app>', 'app id (sgw app list)')
    .description('Activate an inactive app and give it a new key')
    .action((appId: string) => run(...changeOf('activate', appId)))
  const addWithConfirmation = (verb: string, description: string, question: (appId: string) => string): Command =>
    app
      .command(verb)
      .argument('<app>', 'app id (sgw app list)')
      .description(description)
      .option('--yes', 'do not ask')
      .action(async (appId: string, { yes = false }: { yes?: boolean }) => {
        await (verb === 'deactivate' ? findApp : requireActive)(contextOf(), appId)
        await confirm(contextOf(), yes, question(appId))
        await run(...changeOf(verb, appId))
      })
  addWithConfirmation(
    'rotate-key',
    'Give an app a new key; the old one stops working at once. To switch without a gap, create a second app and deactivate this one later; while both have a webhook URL, both receive every inbound message',
    (appId) => `The key of ${appId} stops working at once, and its WebSockets close. Continue?`,
  )
  addWithConfirmation(
    'rotate-webhook-secret',
    'Give an app a new webhook secret, which signs all its webhooks from now on, including those that are waiting',
    (appId) => `Receivers refuse the webhooks of ${appId} until they have its new secret. Continue?`,
  )
  addWithConfirmation(
    'deactivate',
    'Deactivate an app: its key stops working at once, it gets no more webhooks, and failed ones cannot be delivered again',
    (appId) =>
      `The key of ${appId} stops working at once, it gets no more webhooks, and failed ones cannot be delivered again. Continue?`,
  )
}

/** Changes one app, and shows the answer with the app's id. */
const changeOf = (verb: string, appId: string): Parameters<Run> => [
  { method: 'POST', path: `/v1/operator/apps/${encodeURIComponent(appId)}/${verb}` },
  { show: (answer: object) => ({ appId, ...answer }) },
]

function addUpdate(app: Command, contextOf: () => CliContext, run: Run): void {
  app
    .command('update')
    .argument('<app>', 'app id (sgw app list)')
    .description("Change an app's webhook URL")
    .requiredOption('--webhook-url <url>', 'the new address; an empty one removes it')
    .action(async (appId: string, options: { webhookUrl: string }) => {
      await requireActive(contextOf(), appId)
      const body = { webhookUrl: options.webhookUrl === '' ? null : options.webhookUrl }
      await run(
        { method: 'PUT', path: `/v1/apps/${encodeURIComponent(appId)}`, body, appId },
        {
          show: (answer: object) => ({ appId, ...answer }),
          view: (shown: object) => (body.webhookUrl === null ? shown : { ...shown, secret: secretOf(appId) }),
        },
      )
    })
}

/** A start created the app `Default`, so nobody has seen its secret. */
const secretOf = (appId: string): string =>
  `unchanged; if you no longer have it: sgw app rotate-webhook-secret ${appId} --yes prints a new one`

function addCreateAndList(app: Command, run: Run): void {
  app
    .command('create')
    .description('Create an app and show its key once')
    .requiredOption('--tenant <tenant>', 'tenant id (sgw tenant list)')
    .requiredOption('--name <name>', 'name of the app, 1 to 100 characters')
    .option('--webhook-url <url>', 'address to which inbound messages are posted')
    .action((options: { tenant: string; name: string; webhookUrl?: string }) =>
      run(
        {
          method: 'POST',
          path: '/v1/operator/apps',
          body: { tenantId: options.tenant, name: options.name, webhookUrl: options.webhookUrl },
        },
        { view: (answer: object) => ({ ...answer, webhookUrl: options.webhookUrl }) },
      ),
    )
  app
    .command('list')
    .description('List the apps of all tenants; with --tenant, also show their webhook URLs')
    .option('--tenant <tenant>', 'only this tenant')
    .option('--registered-by <app>', 'only apps that this app registered with its key')
    .action(({ tenant, registeredBy }: { tenant?: string; registeredBy?: string }) => {
      const query = new URLSearchParams({
        ...(tenant === undefined ? {} : { tenantId: tenant }),
        ...(registeredBy === undefined ? {} : { registeredBy }),
      })
      return run(
        { method: 'GET', path: `/v1/operator/apps?${query}` },
        {
          show: ({ apps }: AppList) => apps,
          view: ({ apps }: AppList) => apps.map((item) => rowOf(item, tenant !== undefined)),
        },
      )
    })
}

/** Both kinds of rows fit 80 columns. */
function rowOf(app: ListedApp, isOfOneTenant: boolean): object {
  const { appId, tenantId, name, isActive, webhookUrl, apiKeyPrefix } = app
  const status = isActive ? 'active' : 'inactive'
  return isOfOneTenant
    ? { appId, apiKeyPrefix, status, name, webhookUrl }
    : { appId, tenantId, apiKeyPrefix, status, name }
}
