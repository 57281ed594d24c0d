import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Argument, Command, Option } from 'commander'
import { wordsOf } from '../src/cli/command.ts'
import { createProgram } from '../src/cli/program.ts'

// Writes docs/cli.md from the commands: bun scripts/cli-reference.ts

const MAX_WIDTH = 100

const FILE = join(import.meta.dir, '../docs/cli.md')

const INTRODUCTION = `# The command line

How you type \`sgw\` depends on your [installation](install.md#commands). \`sgw COMMAND --help\` explains each option and shows an example.

- Commands act on the running server, or on its database if the server is not running. \`send\`, \`notify\`, \`listen\`, \`simulate\`, \`trigger\` and \`stop\` need a running server; stop the server before \`compact\`.
- Every command except \`start\` takes \`--json\`. Standard output is then one JSON value (with \`listen\` and \`events\`, one per line), and an error is \`{"error": …}\` on standard error.
- A command exits with 0 if it succeeds, 1 if it fails, 2 if you use it incorrectly or if it cannot ask for confirmation without a terminal (use \`--yes\`), and 7 if it needs a server and none responds. The server has [its own codes](operate.md#stopping).
- On a terminal, output is colored, unless you set \`NO_COLOR=1\`.
- A TIME is a date, a date-time with an offset, or an age such as \`2h\`. A NUMBER has the form \`+15555550100\`. \`list\` commands print ids.

Parts in square brackets are optional. You can repeat an argument that ends in \`...\`, and an option if its help says so. \`sgw alerts\` alone lists the firing alerts; \`sgw lease\` alone shows which gateway is active.
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
