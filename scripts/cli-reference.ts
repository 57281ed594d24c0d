import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Argument, Command, Option } from 'commander'
import { wordsOf } from '../src/cli/command.ts'
import { createProgram } from '../src/cli/program.ts'

// Writes docs/cli.md from the commands: bun scripts/cli-reference.ts

const MAX_WIDTH = 100

const FILE = join(import.meta.dir, '../docs/cli.md')

const INTRODUCTION = `# The command line

\`sgw COMMAND --help\` explains each option and shows an example. The lists below are made from the commands: \`bun scripts/cli-reference.ts\` writes this page.

- How you type \`sgw\` depends on your installation: [Commands](install.md#commands).
- Commands act on the running server, or on its database if none runs. \`send\`, \`notify\`, \`listen\`, \`simulate\`, \`trigger\` and \`stop\` need a running server; \`compact\` needs it stopped.
- Every command takes \`--help\`. Every command except \`start\` takes \`--json\`: standard output is then exactly one JSON value, and an error is \`{"error": …}\` on standard error. \`listen\` and \`events\` print one value a line.
- Exit codes: 0 done, 1 failed, 2 wrong usage or a question without a terminal (\`--yes\` answers it), 7 the command needs a server and none answers. The server has [codes of its own](operate.md#stopping).
- Output is coloured on a terminal only. \`NO_COLOR=1\` turns colours off there, too.
- A TIME is a date, a date-time with an offset, or \`2h\` for two hours ago. A NUMBER has the form \`+15555550100\`. An id comes from the matching \`list\` command.

Square brackets mark what you can leave out. You can repeat an argument with \`...\`, and the options whose help says so. \`sgw alerts\` alone lists the alerts that fire; \`sgw lease\` alone shows which of several gateways works.
`

/** The page: each group of commands, and how each command is called. */
export function cliReference(): string {
  const program = createProgram(
    () => {
      throw new Error('Help needs no context')
    },
    () => Promise.resolve(),
  )
  const groups = Map.groupBy(visible(program), (command) => command.helpGroup())
  const sections = [...groups].map(
    ([group, commands]) =>
      `## ${group.replace(/:$/, '')}\n\n\`\`\`text\n${commands.flatMap(leavesOf).map(entryOf).join('\n')}\`\`\`\n`,
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

const entryOf = (command: Command): string =>
  `${wrapped(synopsisOf(command), 4)}\n${wrapped(`    ${command.description()}`, 4)}\n`

const synopsisOf = (command: Command): string =>
  [
    wordsOf(command),
    ...command.registeredArguments.map(argumentOf),
    ...command.options.filter(isNamed).map(optionOf),
  ].join(' ')

function argumentOf(argument: Argument): string {
  const name = `${argument.name().toUpperCase()}${argument.variadic ? '...' : ''}`
  return argument.required ? name : `[${name}]`
}

/** The page says once that every command takes --json. */
const isNamed = ({ hidden, long }: Option): boolean => !hidden && long !== '--json'

/** With the values that it takes, if they are few. */
function optionOf({ flags, mandatory, argChoices }: Option): string {
  const text = flags.replace(/<(.+)>/, (_, value: string) => argChoices?.join('|') ?? value.toUpperCase())
  return mandatory ? text : `[${text}]`
}

/** In lines of at most 100 characters; those after the first one are indented. An option stays whole. */
function wrapped(text: string, indent: number): string {
  const words = text.match(/\s*(?:\[[^\]]*\]\S*|--\S+ [A-Z]\S*|\S+)/g) ?? []
  const lines = ['']
  for (const word of words) {
    const line = lines.at(-1) ?? ''
    if (line.length + word.length <= MAX_WIDTH) lines[lines.length - 1] = line + word
    else lines.push(' '.repeat(indent) + word.trimStart())
  }
  return lines.join('\n')
}

if (import.meta.main) writeFileSync(FILE, cliReference())
