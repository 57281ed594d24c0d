import type { Command } from 'commander'
import { confirm } from './confirm.ts'
import type { CliContext, Run } from './context.ts'

/** Commands for apps and their keys. */
export function addApps(program: Command, contextOf: () => CliContext, run: Run): void {
  const app = program.command('app').alias('apps').description('Apps: what calls the API, each with its key')
  addCreateAndList(app, run)
  app
    .command('activate')
    .argument('<app>', 'app id')
    .description('brings an inactive app back, with a new key')
    .action((appId: string) => run('app-activate', { appId }))
  const addAsking = (verb: string, description: string, question: (appId: string) => string): Command =>
    app
      .command(verb)
      .argument('<app>', 'app id')
      .description(description)
      .option('--yes', 'do not ask')
      .action(async (appId: string, { yes = false }: { yes?: boolean }) => {
        await confirm(contextOf(), yes, question(appId))
        await run(`app-${verb}`, { appId })
      })
  addAsking(
    'rotate-key',
    'gives an app a new key; the old one stops working at once',
    (appId) => `The key of ${appId} stops working at once, and its WebSockets close. Go on?`,
  )
  addAsking(
    'deactivate',
    'ends an app: its key stops working at once, and it gets no more webhooks',
    (appId) => `The key of ${appId} stops working at once, and it gets no more webhooks. Go on?`,
  )
}

function addCreateAndList(app: Command, run: Run): void {
  app
    .command('create')
    .description('makes an app and shows its key, once')
    .requiredOption('--tenant <tenant>', 'tenant id')
    .requiredOption('--name <name>', 'what to call it')
    .option('--webhook-url <url>', 'where inbound messages are POSTed to')
    .action((options: { tenant: string; name: string; webhookUrl?: string }) =>
      run('app-create', { tenantId: options.tenant, name: options.name, webhookUrl: options.webhookUrl }),
    )
  app
    .command('list')
    .description("a tenant's apps, and which app's key registered each")
    .requiredOption('--tenant <tenant>', 'tenant id')
    .action((options: { tenant: string }) => run('app-list', { tenantId: options.tenant }))
}
