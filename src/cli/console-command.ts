import type { Command } from 'commander'
import type { Run } from './context.ts'

/** Adds `sgw console`. */
export function addConsole(program: Command, run: Run): void {
  program
    .command('console')
    .description('Print a link that signs you in to the console once, within ten minutes')
    .option('--revoke', 'end all sessions of operators, and void all links')
    .action(({ revoke = false }: { revoke?: boolean }) =>
      run(
        revoke ? { method: 'DELETE', path: '/v1/operator/sessions' } : { method: 'POST', path: '/v1/operator/links' },
      ),
    )
}
