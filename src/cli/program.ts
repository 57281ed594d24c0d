import { Command, Option } from 'commander'
import { createSecrets } from '../core/secrets.ts'
import type { Finding } from '../operator/finding.ts'
import { VERSION } from '../version.ts'
import { addApps } from './app-commands.ts'
import { ask } from './ask.ts'
import { backUp } from './backup-file.ts'
import { confirm } from './confirm.ts'
import { type CliContext, CliError, type Run } from './context.ts'
import { addDevelopment } from './development-commands.ts'
import { addExample } from './examples.ts'
import { checkHealth } from './health.ts'
import { print, printFindings } from './print.ts'
import { checkBackup, restore } from './restore.ts'

/**
 * Builds the `sgw` command line. `makeContext` reads the environment, once a command needs it. `start` runs the server.
 * `writeErr` receives usage errors instead of standard error.
 */
export function createProgram(
  makeContext: (json: boolean) => CliContext,
  start: (isTest: boolean) => Promise<void>,
  writeErr: ((text: string) => void) | null = null,
): Command {
  const program = new Command('sgw')
    .description(
      'Operate the sgw SMS gateway. Commands act on the running server, or on its database if none runs, and need the same environment.',
    )
    .version(VERSION)
    .option('--json', 'print exactly one JSON value on standard output')
    .showHelpAfterError('(run with --help for details)')
    .configureOutput(writeErr === null ? {} : { writeErr })
    .exitOverride()
  const contextOf = (): CliContext => makeContext(program.opts<{ json?: boolean }>().json === true)
  const run: Run = async (command, input, good = () => true) => {
    const context = contextOf()
    const result = await ask(context, command, input)
    print(context, result)
    if (!good(result)) throw new CliError('')
  }
  program
    .command('start')
    .description('Run the server until SIGTERM')
    .option('--test', 'for tests: with the simulator, without limits, and with a time that can be moved forward')
    .action(({ test = false }: { test?: boolean }) => start(test))
  addTenants(program, run)
  addApps(program, contextOf, run)
  addTriggers(program, run)
  addMessages(program, run)
  addUpkeep(program, contextOf, run)
  addDevelopment(program, contextOf, run)
  for (const command of allCommands(program)) {
    command.addOption(jsonOption(command.name())).on('option:json', () => program.setOptionValue('json', true))
    addExample(command)
  }
  return program
}

/** The `--json` of a command. Hidden for `start`, whose log is JSON by default. */
function jsonOption(command: string): Option {
  const what = command === 'listen' ? 'one JSON value per message, one per line' : 'exactly one JSON value'
  return new Option('--json', `print ${what}`).hideHelp(command === 'start')
}

function addTenants(program: Command, run: Run): void {
  const tenant = program.command('tenant').alias('tenants').description('Manage tenants: the customers of this gateway')
  tenant
    .command('create')
    .description('Create a tenant')
    .requiredOption('--name <name>', 'name of the tenant, 1 to 100 characters')
    .action((options: { name: string }) => run('tenant-create', options))
  tenant
    .command('list')
    .description('List all tenants')
    .action(() => run('tenant-list', {}))
  const statuses = {
    suspend: ['suspended', 'Suspend a tenant: hold its messages, refuse its keys and close its sockets'],
    activate: ['active', 'Activate a suspended or inactive tenant'],
    deactivate: ['inactive', 'Deactivate a tenant that has left; otherwise like suspend'],
  } as const
  for (const [verb, [status, description]] of Object.entries(statuses)) {
    tenant
      .command(verb)
      .description(description)
      .argument('<tenant>', 'tenant id')
      .action((tenantId: string) => run('tenant-status', { tenantId, status }))
  }
}

function addTriggers(program: Command, run: Run): void {
  const trigger = program
    .command('trigger-subscription')
    .alias('trigger-subscriptions')
    .description("Manage triggers: further addresses that receive a tenant's inbound messages")
  const command = (name: string, description: string): Command =>
    trigger.command(name).description(description).requiredOption('--tenant <tenant>', 'tenant id')
  command('create', 'Add an address and show its secret, once')
    .requiredOption('--callback-url <url>', 'address that inbound messages are POSTed to')
    .action(({ tenant, callbackUrl }: { tenant: string; callbackUrl: string }) =>
      run('trigger-create', { tenantId: tenant, callbackUrl }),
    )
  command('list', "List a tenant's triggers").action(({ tenant }: { tenant: string }) =>
    run('trigger-list', { tenantId: tenant }),
  )
  command('delete', 'Delete a trigger')
    .argument('<trigger>', 'trigger id')
    .action((triggerId: string, { tenant }: { tenant: string }) =>
      run('trigger-delete', { tenantId: tenant, triggerId }),
    )
}

function addMessages(program: Command, run: Run): void {
  program
    .command('send')
    .description('Send an SMS')
    .requiredOption('--from <number>', 'a connected number, E.164')
    .requiredOption('--to <number>', 'the receiver, E.164')
    .option('--app <app>', 'the app that sends; needed only if several tenants own the number')
    .option('--wait', 'wait until it is sent or failed')
    .argument('<text>')
    .action((text: string, options: { from: string; to: string; app?: string; wait?: boolean }) => {
      const { from, to, app: appId, wait = false } = options
      return run(
        'send',
        { message: { from, to, body: text }, appId, wait },
        (message) => !wait || (message as { status: string }).status === 'sent',
      )
    })
}

function addUpkeep(program: Command, contextOf: () => CliContext, run: Run): void {
  program
    .command('status')
    .description('Show queue, extensions, subscriptions and backup')
    .action(() => run('status', {}))
  program
    .command('doctor')
    .description('Check everything that a gateway needs, and name the fix of each failure')
    .option('--alert', 'also post a test to ALERT_URL')
    .action(({ alert = false }: { alert?: boolean }) => diagnose(contextOf(), alert))
  program
    .command('backup')
    .description('Copy the database into a new file, and check the copy')
    .argument('<file>', 'a file that does not exist yet')
    .action((file: string) => backUp(contextOf(), file))
  program
    .command('restore')
    .description('Restore a missing database from its backup, before a start')
    .option('--check', 'only test that the backup can be restored, beside the live database')
    .action(({ check }: { check?: boolean }) => (check === true ? checkBackup(contextOf()) : restore(contextOf())))
  program
    .command('unblock')
    .description('Let an address in again that failed to authenticate too often')
    .argument('<address>', 'IP address of the client')
    .action((address: string) => run('unblock', { address }))
  program
    .command('compact')
    .description('Rewrite the database file without its free pages; the server must be stopped')
    .action(() => run('compact', {}))
  program
    .command('erase')
    .description("Delete every message to and from a person's number")
    .requiredOption('--phone <number>', 'the number, E.164')
    .option('--dry-run', 'only count what would be deleted')
    .option('--yes', 'do not ask')
    .action(async ({ phone, dryRun = false, yes = false }: { phone: string; dryRun?: boolean; yes?: boolean }) => {
      const question = `This deletes every message to and from ${phone}, of all tenants, for good. Go on?`
      if (!dryRun) await confirm(contextOf(), yes, question)
      await run('erase', { phone, dryRun })
    })
  program
    .command('health')
    .description('Exit with 0 if the server answers, else with 1')
    .action(() => checkHealth(contextOf()))
  program
    .command('keys')
    .alias('key')
    .description('Manage the encryption keys of stored secrets')
    .command('rotate')
    .description('Encrypt every stored secret again with the newest of ENCRYPTION_KEYS; the server may run')
    .action(() => run('keys-rotate', { newestKey: newestKeyId(contextOf()) }))
  program
    .command('secret')
    .description('Print a new key for ENCRYPTION_KEYS')
    .action(() => printKey(contextOf(), crypto.getRandomValues(new Uint8Array(32)).toBase64()))
}

/** Prints only the key if standard output is no terminal, so that `ENCRYPTION_KEYS=$(sgw secret)` works. */
function printKey(context: CliContext, key: string): void {
  if (context.json || context.terminal) print(context, { key })
  else context.stdout(`${key}\n`)
}

async function diagnose(context: CliContext, alert: boolean): Promise<void> {
  const findings = await ask(context, 'doctor', { alert }).then(
    (found) => found as Finding[],
    (error: unknown) => diagnoseWithoutDatabase(context, error, alert),
  )
  printFindings(context, findings)
  if (findings.some(({ ok }) => !ok)) throw new CliError('')
}

async function diagnoseWithoutDatabase({ config }: CliContext, error: unknown, alert: boolean): Promise<Finding[]> {
  const { diagnoseOffline } = await import('../operator/doctor-offline.ts')
  return diagnoseOffline(config, error instanceof Error ? error.message : 'unknown error', alert)
}

/** Id of the newest configured key. Null in development, where the server makes its own key. */
const newestKeyId = ({ config }: CliContext): string | null =>
  config.encryptionKeys === null ? null : createSecrets(config.encryptionKeys).keyId

function allCommands(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child)])
}
