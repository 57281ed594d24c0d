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
import { checkHealth } from './health.ts'
import { print, printFindings } from './print.ts'
import { checkBackup, restore } from './restore.ts'

/**
 * The `sgw` command line. `makeContext` reads the environment only when a command needs it; `start` runs the server;
 * `writeErr` hears what is wrong with the command line in place of standard error.
 */
export function createProgram(
  makeContext: (json: boolean) => CliContext,
  start: () => Promise<void>,
  writeErr: ((text: string) => void) | null = null,
): Command {
  const program = new Command('sgw')
    .description(
      'Operates the sgw SMS gateway. Acts on the running server, or on its database when none runs; uses the same environment.',
    )
    .version(VERSION)
    .option('--json', 'print exactly one JSON value on standard output')
    .showHelpAfterError('(--help says more)')
    .configureOutput(writeErr === null ? {} : { writeErr })
    .exitOverride()
  const contextOf = (): CliContext => makeContext(program.opts<{ json?: boolean }>().json === true)
  const run: Run = async (command, input, good = () => true) => {
    const context = contextOf()
    const result = await ask(context, command, input)
    print(context, result)
    if (!good(result)) throw new CliError('')
  }
  program.command('start').description('runs the server, until SIGTERM').action(start)
  addTenants(program, run)
  addApps(program, contextOf, run)
  addTriggers(program, run)
  addMessages(program, run)
  addUpkeep(program, contextOf, run)
  addDevelopment(program, contextOf, run)
  for (const command of allCommands(program))
    command.addOption(jsonOption(command.name())).on('option:json', () => program.setOptionValue('json', true))
  return program
}

/** The server's log is JSON anyway where nobody watches. */
function jsonOption(command: string): Option {
  const what = command === 'listen' ? 'one JSON value for each message, a line each' : 'exactly one JSON value'
  return new Option('--json', `print ${what}`).hideHelp(command === 'start')
}

function addTenants(program: Command, run: Run): void {
  const tenant = program.command('tenant').alias('tenants').description('Tenants: the customers of this gateway')
  tenant
    .command('create')
    .description('makes a tenant')
    .requiredOption('--name <name>', 'what to call it')
    .action((options: { name: string }) => run('tenant-create', options))
  tenant
    .command('list')
    .description('all of them')
    .action(() => run('tenant-list', {}))
  const standings = {
    suspend: ['suspended', 'holds its messages and closes its keys and sockets; activate takes it back'],
    activate: ['active', 'lets a suspended or inactive tenant work again'],
    deactivate: ['inactive', 'the same, for one that has left'],
  } as const
  for (const [verb, [status, description]] of Object.entries(standings)) {
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
    .description("Triggers: addresses that hear of a tenant's inbound messages beside its apps")
  const command = (name: string, description: string): Command =>
    trigger.command(name).description(description).requiredOption('--tenant <tenant>', 'tenant id')
  command('create', 'adds an address and shows its secret, once')
    .requiredOption('--callback-url <url>', 'where inbound messages are POSTed to')
    .action(({ tenant, callbackUrl }: { tenant: string; callbackUrl: string }) =>
      run('trigger-create', { tenantId: tenant, callbackUrl }),
    )
  command('list', 'all of them').action(({ tenant }: { tenant: string }) => run('trigger-list', { tenantId: tenant }))
  command('delete', 'removes one')
    .argument('<trigger>', 'trigger id')
    .action((triggerId: string, { tenant }: { tenant: string }) =>
      run('trigger-delete', { tenantId: tenant, triggerId }),
    )
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
    .description('the gateway at a glance')
    .action(() => run('status', {}))
  program
    .command('doctor')
    .description('checks everything a gateway needs')
    .option('--alert', 'also post a test to ALERT_URL')
    .action(({ alert = false }: { alert?: boolean }) => diagnose(contextOf(), alert))
  program
    .command('backup')
    .description(
      'copies the database into a new file, consistent and checked, for example: sgw backup /mnt/sgw-copy.db',
    )
    .argument('<file>', 'a file that does not exist yet')
    .action((file: string) => backUp(contextOf(), file))
  program
    .command('restore')
    .description('brings a missing database back from its backup, before a start')
    .option('--check', 'a drill beside the live database: is the backup there and whole?')
    .action(({ check }: { check?: boolean }) => (check === true ? checkBackup(contextOf()) : restore(contextOf())))
  program
    .command('compact')
    .description('rewrites the database file without its free places; the server must be stopped')
    .action(() => run('compact', {}))
  program
    .command('erase')
    .description("deletes every message to and from a person's number")
    .requiredOption('--phone <number>', 'E.164')
    .option('--dry-run', 'only count what would be deleted')
    .option('--yes', 'do not ask')
    .action(async ({ phone, dryRun = false, yes = false }: { phone: string; dryRun?: boolean; yes?: boolean }) => {
      const question = `Every message to and from ${phone} is deleted, of all tenants, for good. Go on?`
      if (!dryRun) await confirm(contextOf(), yes, question)
      await run('erase', { phone, dryRun })
    })
  program
    .command('health')
    .description('exit 0 when the server answers, else 1')
    .action(() => checkHealth(contextOf()))
  program
    .command('keys')
    .alias('key')
    .description('The keys that stored secrets are sealed with')
    .command('rotate')
    .description('seals every stored secret anew with the newest of ENCRYPTION_KEYS, while the server runs')
    .action(() => run('keys-rotate', { newestKey: newestKeyId(contextOf()) }))
  program
    .command('secret')
    .description('a fresh key for ENCRYPTION_KEYS')
    .action(() => printKey(contextOf(), crypto.getRandomValues(new Uint8Array(32)).toBase64()))
}

/** Bare where a program reads it, so that `ENCRYPTION_KEYS=$(sgw secret)` works. */
function printKey(context: CliContext, key: string): void {
  if (context.json || context.terminal) print(context, { key })
  else context.stdout(`${key}\n`)
}

async function diagnose(context: CliContext, alert: boolean): Promise<void> {
  const findings = await ask(context, 'doctor', { alert }).then(
    (found) => found as Finding[],
    (error: unknown) => findWithoutDatabase(context, error, alert),
  )
  printFindings(context, findings)
  if (findings.some(({ ok }) => !ok)) throw new CliError('')
}

async function findWithoutDatabase({ config }: CliContext, error: unknown, alert: boolean): Promise<Finding[]> {
  const { diagnoseOffline } = await import('../operator/doctor-offline.ts')
  return diagnoseOffline(config, error instanceof Error ? error.message : 'unknown error', alert)
}

/** Null in development, where the key is kept beside the database and only the server looks at it. */
const newestKeyId = ({ config }: CliContext): string | null =>
  config.encryptionKeys === null ? null : createSecrets(config.encryptionKeys).keyId

function allCommands(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child)])
}
