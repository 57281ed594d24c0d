import { Command, Option } from 'commander'
import { createSecrets } from '../core/secrets.ts'
import { VERSION } from '../version.ts'
import { addApps } from './app-commands.ts'
import { ask } from './ask.ts'
import { backUp } from './backup-file.ts'
import { confirm } from './confirm.ts'
import { addConsole } from './console-command.ts'
import { type CliContext, CliError, type Run } from './context.ts'
import { addDevelopment } from './development-commands.ts'
import { diagnose } from './doctor.ts'
import { addExample } from './examples.ts'
import { checkHealth } from './health.ts'
import { print } from './print.ts'
import { checkBackup, restore } from './restore.ts'
import { stop } from './stop.ts'
import { addTenants } from './tenant-commands.ts'
import { addTriggers } from './trigger-commands.ts'

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
  const run: Run = async (request, { show = (answer: unknown) => answer, good = () => true } = {}) => {
    const context = contextOf()
    // Each command knows the answer of its request.
    const answer = (await ask(context, request)) as never
    print(context, show(answer))
    if (!good(answer)) throw new CliError('')
  }
  program
    .command('start')
    .description('Run the server until SIGTERM')
    .option('--test', 'for tests: with the simulator, without limits, and with a time that can be moved forward')
    .action(({ test = false }: { test?: boolean }) => start(test))
  program
    .command('stop')
    .description('Stop the running server, and wait until it has ended')
    .action(() => stop(contextOf()))
  addTenants(program, contextOf, run)
  addApps(program, contextOf, run)
  addTriggers(program, contextOf, run)
  addMessages(program, run)
  addConsole(program, run)
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
      const body = { message: { from, to, body: text }, appId, wait }
      return run(
        { method: 'POST', path: '/v1/operator/send', body, needs: 'server' },
        { good: ({ status }: { status: string }) => !wait || status === 'sent' },
      )
    })
}

function addUpkeep(program: Command, contextOf: () => CliContext, run: Run): void {
  program
    .command('status')
    .description('Show queue, extensions, subscriptions and backup')
    .action(() => run({ method: 'GET', path: '/v1/operator/status' }))
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
    .action((address: string) => run({ method: 'POST', path: '/v1/operator/unblock', body: { address } }))
  program
    .command('compact')
    .description('Rewrite the database file without its free pages; the server must be stopped')
    .action(() => run({ method: 'POST', path: '/v1/operator/compact' }))
  program
    .command('erase')
    .description("Delete every message to and from a person's number")
    .requiredOption('--phone <number>', 'the number, E.164')
    .option('--dry-run', 'only count what would be deleted')
    .option('--yes', 'do not ask')
    .action(async ({ phone, dryRun = false, yes = false }: { phone: string; dryRun?: boolean; yes?: boolean }) => {
      const question = `This deletes every message to and from ${phone}, of all tenants, for good. Go on?`
      if (!dryRun) await confirm(contextOf(), yes, question)
      await run({ method: 'POST', path: '/v1/operator/erase', body: { phone, dryRun } })
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
    .action(() =>
      run({ method: 'POST', path: '/v1/operator/keys/rotate', body: { newestKey: newestKeyId(contextOf()) } }),
    )
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

/** Id of the newest configured key. Null in development, where the server makes its own key. */
const newestKeyId = ({ config }: CliContext): string | null =>
  config.encryptionKeys === null ? null : createSecrets(config.encryptionKeys).keyId

function allCommands(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...allCommands(child)])
}
