import { type Command, Option, type OutputConfiguration } from 'commander'
import { isE164 } from '../core/phone.ts'
import { createSecrets } from '../core/secrets.ts'
import { VERSION } from '../core/version.ts'
import { addAlerts } from './alert-commands.ts'
import { addApps } from './app-commands.ts'
import { ask } from './ask.ts'
import { backUp } from './backup-file.ts'
import { SgwCommand } from './command.ts'
import { confirm } from './confirm.ts'
import { type CliContext, CliError, type Run, requireSettings } from './context.ts'
import { addDevelopment } from './development-commands.ts'
import { diagnose } from './doctor.ts'
import { addEvents } from './events-command.ts'
import { addExample } from './examples.ts'
import { addExtensions } from './extension-commands.ts'
import { checkHealth } from './health.ts'
import { withHint } from './hints.ts'
import { addMessages } from './message-commands.ts'
import { print } from './print.ts'
import { abandonLease } from './abandon-lease.ts'
import { SIDES, type Side, chooseHistory } from './choose-history.ts'
import { checkBackup, restore } from './restore.ts'
import { showStatus } from './status.ts'
import { stop } from './stop.ts'
import { addTenants } from './tenant-commands.ts'
import { addTriggers } from './trigger-commands.ts'
import { addWebhooks } from './webhook-commands.ts'

/**
 * Builds the `sgw` command line. `makeContext` reads the environment as soon as a command needs it. `start` runs the server. `output` receives
 * help and usage errors, by default the process's own streams.
 */
export function createProgram(
  makeContext: (json: boolean) => CliContext,
  start: (isTest: boolean) => Promise<void>,
  output: OutputConfiguration = {},
): Command {
  const program = new SgwCommand('sgw')
    .description(
      'Operate the sgw SMS gateway. Commands act on the running server, or on its database if no server is running: run them in its folder or with its DATABASE_URL. Times are UTC. For help on a command: sgw messages --help, sgw messages list --help.',
    )
    .version(VERSION)
    .option('--json', 'print exactly one JSON value on standard output, and errors as JSON on standard error')
    .configureOutput(output)
    .exitOverride()
  const contextOf = (): CliContext => makeContext(program.opts<{ json?: boolean }>().json === true)
  const run: Run = async (request, options = {}) => {
    const { show = (shown: unknown) => shown, view = show, good = () => true } = options
    const context = contextOf()
    // Each command knows the answer of its request.
    const answer = (await ask(context, request)) as never
    print(context, context.json ? show(answer) : view(answer))
    if (!good(answer)) throw new CliError('')
  }
  program.commandsGroup('Messages:')
  addMessages(program, contextOf, run)
  addWebhooks(program, contextOf)
  addEvents(program, contextOf)
  program.commandsGroup('Who may send, and from where:')
  addTenants(program, contextOf, run)
  addApps(program, contextOf, run)
  addExtensions(program, contextOf, run)
  addTriggers(program, contextOf, run)
  program.commandsGroup('The gateway:')
  addServer(program, contextOf, run, start)
  addUpkeep(program, contextOf, run)
  program.commandsGroup('While you develop:')
  addDevelopment(program, contextOf, run)
  for (const command of allCommands(program)) complete(command, program)
  return program
}

/** Adds what every command has. */
function complete(command: Command, program: Command): void {
  command.addOption(jsonOption(command.name())).on('option:json', () => program.setOptionValue('json', true))
  addExample(command)
}

const STREAMS = new Map([
  ['listen', 'one JSON value per message, one per line'],
  ['events', 'one JSON value per event, one per line'],
])

/** The `--json` of a command. Hidden for `start`, whose log is JSON by default. */
function jsonOption(command: string): Option {
  const what = STREAMS.get(command) ?? 'exactly one JSON value'
  return new Option('--json', `print ${what}`).hideHelp(command === 'start')
}

function addServer(
  program: Command,
  contextOf: () => CliContext,
  run: Run,
  start: (isTest: boolean) => Promise<void>,
): void {
  program
    .command('start')
    .description('Run the server until SIGTERM; without RC_CLIENT_ID, with a simulator that reaches no real phone')
    .option('--test', 'for tests: use the simulator, lift the limits, and let tests move the clock forward')
    .action(({ test = false }: { test?: boolean }) => start(test))
  program
    .command('stop')
    .description('Stop the running server and wait until it has ended')
    .action(() => stop(contextOf()))
  addLease(program, contextOf, run)
  program
    .command('console')
    .description('Print a link that signs you in to the console once, within ten minutes')
    .option('--revoke', "end all operators' sessions, and cancel all links")
    .action(({ revoke = false }: { revoke?: boolean }) =>
      run(
        revoke ? { method: 'DELETE', path: '/v1/operator/sessions' } : { method: 'POST', path: '/v1/operator/links' },
      ),
    )
}

function addLease(program: Command, contextOf: () => CliContext, run: Run): void {
  const lease = program
    .command('lease')
    .description('Show which of several gateways is active (STANDBY=on, docs/beyond-one-machine.md)')
    .action(() => run({ method: 'GET', path: '/v1/operator/lease', needs: 'server' }))
  lease
    .command('give')
    .description('Stop the running server so that a standby takes over at once')
    .action(() => run({ method: 'POST', path: '/v1/operator/lease/give', needs: 'server' }))
  lease
    .command('abandon')
    .description(
      'Let this machine continue without the lease while the object storage fails; all gateways must be stopped',
    )
    .option('--yes', 'do not ask')
    .action(({ yes = false }: { yes?: boolean }) => abandonLease(contextOf(), yes))
}

function addUpkeep(program: Command, contextOf: () => CliContext, run: Run): void {
  program
    .command('status')
    .description('Show alerts, the queue, failed and waiting messages, failing webhooks, extensions and backup')
    .action(() => showStatus(contextOf()))
  addAlerts(program, contextOf, run)
  program
    .command('doctor')
    .description('Check everything that a gateway needs, and say how to fix each failure')
    .option('--alert', 'also post a test to ALERT_URL, where alerts are posted (docs/alerts.md)')
    .action(({ alert = false }: { alert?: boolean }) => diagnose(contextOf(), alert))
  addBackup(program, contextOf)
  program
    .command('unblock')
    .description('Unblock an IP address that failed to authenticate too many times')
    .argument('<address>', 'IP address of the client')
    .action((address: string) => run({ method: 'POST', path: '/v1/operator/unblock', body: { address } }))
  program
    .command('compact')
    .description('Rewrite the database file without its free pages; the server must be stopped')
    .action(() => run({ method: 'POST', path: '/v1/operator/compact' }))
  addErase(program, contextOf, run)
  program
    .command('health')
    .description('Exit with 0 if the server responds, otherwise with 1')
    .action(() => checkHealth(contextOf()))
  addKeys(program, contextOf, run)
}

function addErase(program: Command, contextOf: () => CliContext, run: Run): void {
  program
    .command('erase')
    .description("Delete every message to and from a person's number")
    .requiredOption('--phone <number>', 'the number, E.164')
    .option('--cancel', 'also cancel and delete messages that have not been sent yet')
    .option('--dry-run', 'only count what would be deleted')
    .option('--yes', 'do not ask')
    .action(async ({ phone, cancel = false, dryRun = false, yes = false }: EraseOptions) => {
      if (!isE164(phone)) throw new CliError(withHint('badPhone'))
      const question = `This permanently deletes every message to and from ${phone}, for all tenants. Continue?`
      if (!dryRun) await confirm(contextOf(), yes, question)
      await run({ method: 'POST', path: '/v1/operator/erase', body: { phone, cancel, dryRun } })
    })
}

interface EraseOptions {
  phone: string
  cancel?: boolean
  dryRun?: boolean
  yes?: boolean
}

function addKeys(program: Command, contextOf: () => CliContext, run: Run): void {
  program
    .command('keys')
    .alias('key')
    .description('Manage the encryption keys of stored secrets. A key of the API belongs to an app: sgw app --help')
    .command('rotate')
    .description('Re-encrypt every stored secret with the newest of ENCRYPTION_KEYS; the server may be running')
    .action(() =>
      run({ method: 'POST', path: '/v1/operator/keys/rotate', body: { newestKey: newestKeyId(contextOf()) } }),
    )
  program
    .command('secret')
    .description('Print a new key for ENCRYPTION_KEYS')
    .action(() => printKey(contextOf(), crypto.getRandomValues(new Uint8Array(32)).toBase64()))
}

function addBackup(program: Command, contextOf: () => CliContext): void {
  program
    .command('backup')
    .description('Copy the database to a new file, and check the copy. To start from it, see docs/backup.md')
    .argument('<file>', 'a file that does not exist yet')
    .action((file: string) => backUp(contextOf(), file))
  program
    .command('restore')
    .description('Restore a missing database from LITESTREAM_REPLICA_URL before you start')
    .option('--check', 'only test the backup: restore it beside the live database')
    .option('--timestamp <time>', 'restore the state at this time, such as 2026-11-24T10:00:00Z')
    .addOption(
      new Option(
        '--choose <side>',
        'if there are two histories: continue with the file (local) or the copy, and keep the other',
      ).choices(SIDES),
    )
    .action(({ check, timestamp = null, choose }: { check?: boolean; timestamp?: string | null; choose?: Side }) => {
      if (choose !== undefined) return chooseHistory(contextOf(), choose)
      return check === true ? checkBackup(contextOf()) : restore(contextOf(), timestamp)
    })
}

/** Prints only the key if standard output is no terminal, so that `ENCRYPTION_KEYS=$(sgw secret)` works. */
function printKey(context: CliContext, key: string): void {
  if (context.json || context.terminal) print(context, { key })
  else context.stdout(`${key}\n`)
}

/** Id of the newest configured key. Null in development, where the server makes its own key. */
function newestKeyId(context: CliContext): string | null {
  requireSettings(context, ['ENCRYPTION_KEYS'])
  const { encryptionKeys } = context.config
  return encryptionKeys === null ? null : createSecrets(encryptionKeys).keyId
}

function allCommands(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child)])
}
