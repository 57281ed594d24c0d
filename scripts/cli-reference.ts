import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { wordsOf } from '../src/cli/command.ts'
import { createProgram } from '../src/cli/program.ts'

// Writes docs/cli.md from the commands: bun scripts/cli-reference.ts

const FILE = join(import.meta.dir, '../docs/cli.md')

const INTRODUCTION = `# The command line

Written by \`bun scripts/cli-reference.ts\` from the commands themselves; \`sgw COMMAND --help\` prints the same.

- How to type \`sgw\` depends on your installation: [install.md](install.md#commands). From source it is \`bun run sgw\`, and in cron \`bun src/cli.ts\`.
- Commands act on the running server, or on its database if none runs. \`send\`, \`notify\`, \`listen\`, \`simulate\`, \`trigger\` and \`stop\` need a server, and \`compact\` needs it stopped.
- With \`--json\` standard output is exactly one JSON value, and an error is \`{"error": …}\` on standard error. \`listen\` and \`events\` print one value a line.
- Exit codes: 0 done, 1 failed, 2 wrong usage or a question without a terminal (\`--yes\` answers it), 7 a server is needed and none answers. Those of the server: [operate.md](operate.md#stopping).
- \`NO_COLOR=1\` turns colours off. They are off anyway where standard output is no terminal.
`

/** The page: each group of commands, and each command with its help. */
export function cliReference(): string {
  const program = createProgram(
    () => {
      throw new Error('Help needs no context')
    },
    () => Promise.resolve(),
  )
  const groups = Map.groupBy(visible(program), (command) => command.helpGroup())
  const sections = [...groups].map(
    ([group, commands]) => `## ${group.replace(/:$/, '')}\n\n${commands.flatMap(leavesOf).map(sectionOf).join('\n')}`,
  )
  return [INTRODUCTION, ...sections].join('\n')
}

const visible = (command: Command): Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help')

const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : visible(command).flatMap(leavesOf)

const sectionOf = (command: Command): string => `### ${wordsOf(command)}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`

/** As `--help` prints it, with its example. */
function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
  return text.trimEnd()
}

if (import.meta.main) writeFileSync(FILE, cliReference())
