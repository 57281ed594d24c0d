import type { Command } from 'commander'
import { expect, test } from 'bun:test'
import { createProgram } from '../../src/cli/program.ts'

const REACHED = 'the command was reached'

function program(): Command {
  return createProgram(
    () => {
      throw new Error(REACHED)
    },
    () => Promise.reject(new Error(REACHED)),
    { writeErr: () => undefined },
  )
}

const leaves = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap((child) => leaves(child))

/** Returns the help text of a command. */
function helpOf(command: Command): string {
  const printed: string[] = []
  command.configureOutput({ writeOut: (text) => void printed.push(text) }).outputHelp()
  return printed.join('')
}

/** Splits a command line into words. A quoted text is one word. */
const wordsOf = (line: string): string[] => [...line.matchAll(/"([^"]*)"|\S+/g)].map((match) => match[1] ?? match[0])

test('the help of every command ends with an example that the command accepts', async () => {
  for (const command of leaves(program())) {
    const [, example = `none for ${command.name()}`] = /\nExample: (sgw .+)\n$/.exec(helpOf(command)) ?? []
    const [, ...words] = wordsOf(example)
    expect(words).toContain(command.name())
    expect(await program().parseAsync(words, { from: 'user' }).catch(String), example).toBe(`Error: ${REACHED}`)
  }
})
