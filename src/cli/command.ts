import { Command, type Help } from 'commander'
import { similar } from '../core/edit-distance.ts'

const HELP_WIDTH = 80

/** A command whose help fits 80 columns, and whose errors name what was probably meant and the command's help. */
export class SgwCommand extends Command {
  #unknown: readonly string[] = []

  override createCommand(name?: string): SgwCommand {
    return new SgwCommand(name)
  }

  override createHelp(): Help {
    return Object.assign(super.createHelp(), {
      helpWidth: HELP_WIDTH,
      subcommandTerm: (command: Command) => [command.name(), ...argumentsOf(command)].join(' '),
      commandUsage: (command: Command) =>
        [wordsOf(command), ...argumentsOf(command), command.commands.length > 0 ? 'COMMAND' : '', '[options]']
          .filter((word) => word !== '')
          .join(' '),
    })
  }

  override parseOptions(words: string[]): ReturnType<Command['parseOptions']> {
    const parsed = super.parseOptions(words)
    this.#unknown = parsed.unknown.filter((word) => word.startsWith('-'))
    return parsed
  }

  /** A command whose name begins so, or the only one elsewhere that is called so. Null leaves the guess to commander. */
  #meantBy(typed: string): string | null {
    const begun = this.commands.find((command) => command.name().startsWith(typed))
    if (begun !== undefined) return begun.name()
    const [only, ...others] = leavesOf(rootOf(this)).filter((command) => command.name() === typed)
    return only === undefined || others.length > 0 ? null : wordsOf(only)
  }

  /** A misspelt option is the cause of a missing one, so it is named first. */
  override error(message: string, options?: { exitCode?: number; code?: string }): never {
    this.showHelpAfterError(`Help: ${wordsOf(this)} --help`)
    const [typed = ''] = this.args
    const meantCommand = options?.code === 'commander.unknownCommand' ? this.#meantBy(typed) : null
    if (meantCommand !== null)
      return super.error(`error: unknown command '${typed}'\n(Did you mean ${meantCommand}?)`, options)
    const [misspelt] = this.#unknown
    if (options?.code !== 'commander.missingMandatoryOptionValue' || misspelt === undefined)
      return super.error(message, options)
    const meant = similar(
      misspelt,
      this.options.flatMap(({ long }) => long ?? []),
    )
    const suggestion = meant === null ? '' : `\n(Did you mean ${meant}?)`
    return super.error(`error: unknown option '${misspelt}'${suggestion}`, {
      ...options,
      code: 'commander.unknownOption',
    })
  }
}

const rootOf = (command: Command): Command => (command.parent === null ? command : rootOf(command.parent))

/** The commands without commands of their own; those that play the provider are not meant by slips. */
const leavesOf = (command: Command): Command[] =>
  command.commands.length === 0
    ? [command]
    : command.commands.filter((child) => child.name() !== 'simulate').flatMap((child) => leavesOf(child))

/** The words that call a command: `sgw tenant create`. */
export function wordsOf(command: Command): string {
  return command.parent === null ? command.name() : `${wordsOf(command.parent)} ${command.name()}`
}

const argumentsOf = ({ registeredArguments }: Command): string[] =>
  registeredArguments.map((argument) => argument.name().toUpperCase())
