import { Command } from 'commander'
import { VERSION } from '../version.ts'
import { ask } from './ask.ts'
import { type CliContext, CliError } from './context.ts'
import { checkHealth } from './health.ts'
import { print } from './print.ts'

/** The `sgw` command line. `makeContext` reads the environment only when a command needs it. */
export function createProgram(makeContext: (json: boolean) => CliContext): Command {
  const program = new Command('sgw')
    .description('Operates the sgw SMS gateway. Acts on the running server, or on its database when none runs; uses the same environment.')
    .version(VERSION)
    .option('--json', 'print exactly one JSON value on standard output')
    .showHelpAfterError()
    .exitOverride()
  const contextOf = (): CliContext => makeContext(program.opts<{ json?: boolean }>().json === true)
  /** Runs a server command and prints its result. */
  const run = async (command: string, input: unknown): Promise<void> => {
    const context = contextOf()
    print(context, await ask(context, command, input))
  }
  addTenants(program, run)
  addApps(program, run)
  addMessages(program, run)
  addUpkeep(program, contextOf, run)
  for (const command of allCommands(program)) command.option('--json', 'print exactly one JSON value').on('option:json', () => program.setOptionValue('json', true))
  return program
}

type Run = (command: string, input: unknown) => Promise<void>

function addTenants(program: Command, run: Run): void {
  const tenant = program.command('tenant').description('Tenants: the customers of this gateway')
  tenant.command('create').requiredOption('--name <name>', 'what to call it').action((options: { name: string }) => run('tenant-create', options))
  tenant.command('list').action(() => run('tenant-list', {}))
  const standings = { suspend: 'suspended', activate: 'active', deactivate: 'inactive' } as const
  for (const [verb, status] of Object.entries(standings)) {
    tenant.command(verb).argument('<tenant>', 'tenant id').action((tenantId: string) => run('tenant-status', { tenantId, status }))
  }
}

function addApps(program: Command, run: Run): void {
  const app = program.command('app').description('Apps: what calls the API, each with its key')
  app
    .command('create')
    .requiredOption('--tenant <tenant>', 'tenant id')
    .requiredOption('--name <name>', 'what to call it')
    .option('--webhook-url <url>', 'where inbound messages are POSTed to')
    .action((options: { tenant: string; name: string; webhookUrl?: string }) =>
      run('app-create', { tenantId: options.tenant, name: options.name, webhookUrl: options.webhookUrl }),
    )
  app.command('list').requiredOption('--tenant <tenant>', 'tenant id').action((options: { tenant: string }) => run('app-list', { tenantId: options.tenant }))
  app.command('activate').argument('<app>', 'app id').description('brings an app back, with a new key').action((appId: string) => run('app-activate', { appId }))
}

function addMessages(program: Command, run: Run): void {
  program
    .command('send')
    .description('sends an SMS')
    .requiredOption('--from <number>', 'a connected number, E.164')
    .requiredOption('--to <number>', 'E.164')
    .option('--app <app>', 'in whose name; needed only where several tenants own the number')
    .option('--wait', 'until it is sent or failed')
    .argument('<text>')
    .action((text: string, options: { from: string; to: string; app?: string; wait?: boolean }) =>
      run('send', { message: { from: options.from, to: options.to, body: text }, appId: options.app, wait: options.wait === true }),
    )
}

function addUpkeep(program: Command, contextOf: () => CliContext, run: Run): void {
  program.command('status').description('the gateway at a glance').action(() => run('status', {}))
  program
    .command('doctor')
    .description('checks everything a gateway needs')
    .action(async () => {
      const context = contextOf()
      const findings = (await ask(context, 'doctor', {})) as { ok: boolean }[]
      print(context, findings)
      if (findings.some((finding) => !finding.ok)) throw new CliError('')
    })
  program
    .command('health')
    .description('exit 0 when the server answers, else 1')
    .action(() => checkHealth(contextOf()))
  program
    .command('secret')
    .description('a fresh key for ENCRYPTION_KEYS')
    .action(() => print(contextOf(), { key: crypto.getRandomValues(new Uint8Array(32)).toBase64() }))
}

function allCommands(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child)])
}
