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

  /** A misspelt option is the cause of a missing one, so it is named first. */
  override error(message: string, options?: { exitCode?: number; code?: string }): never {
    this.showHelpAfterError(`Help: ${wordsOf(this)} --help`)
    const [typed = ''] = this.args
    const begun = this.commands.find((command) => command.name().startsWith(typed))
    // Somebody who types the beginning of a name means that name, however long its rest is.
    if (options?.code === 'commander.unknownCommand' && begun !== undefined)
      return super.error(`error: unknown command '${typed}'\n(Did you mean ${begun.name()}?)`, options)
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

/** The words that call a command: `sgw tenant create`. */
export function wordsOf(command: Command): string {
  return command.parent === null ? command.name() : `${wordsOf(command.parent)} ${command.name()}`
}

const argumentsOf = ({ registeredArguments }: Command): string[] =>
  registeredArguments.map((argument) => argument.name().toUpperCase())
