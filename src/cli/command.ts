import { Command, type Help, type Option } from 'commander'
import { similar } from '../core/edit-distance.ts'

const HELP_WIDTH = 80

/** Words that people try, and the commands they mean. */
const MEANT: Readonly<Record<string, string>> = {
  revoke: 'sgw app deactivate',
  'set-webhook': 'sgw app update',
  queue: 'sgw status',
  version: 'sgw --version',
  contact: 'sgw messages list',
  contacts: 'sgw messages list',
  'app show': 'sgw app list',
  'app delete': 'sgw app deactivate',
  'tenant show': 'sgw tenant list',
  'tenant delete': 'sgw tenant deactivate',
}

type ErrorOptions = { exitCode?: number; code?: string }

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
        [
          wordsOf(command),
          ...argumentsOf(command),
          command.commands.length > 0 ? 'COMMAND' : '',
          ...requiredOf(command).map(({ flags }) => flags.replace(/<(.+)>/, (_, value: string) => value.toUpperCase())),
          '[options]',
        ]
          .filter((word) => word !== '')
          .join(' '),
    })
  }

  override parseOptions(words: string[]): ReturnType<Command['parseOptions']> {
    const named = words.filter((word) => !word.startsWith('-'))
    const [first, ...asked] = named
    const isHelp = this.parent === null && first === 'help' && asked.length > 0
    // Commander would answer an unknown word with its group's help.
    if (words.some((word) => word === '--help' || word === '-h')) this.#commandOf(named)
    const parsed = super.parseOptions(isHelp ? [...this.#commandOf(asked), '--help'] : words)
    this.#unknown = parsed.unknown.filter((word) => word.startsWith('-'))
    return parsed
  }

  /** The words of the command that help is asked about. Commander takes only one word, and does not report unknown ones. */
  #commandOf(asked: readonly string[]): string[] {
    const [word, ...others] = asked
    if (word === undefined || word === 'help' || this.commands.length === 0) return []
    const named = this.commands.find((command) => command.name() === word || command.aliases().includes(word))
    if (named instanceof SgwCommand) return [word, ...named.#commandOf(others)]
    this.args = [word]
    return this.error('', { code: 'commander.unknownCommand' })
  }

  override error(message: string, options?: ErrorOptions): never {
    this.showHelpAfterError(`Help: ${wordsOf(this)} --help`)
    if (options?.code === 'commander.unknownCommand') {
      const [typed = ''] = this.args
      return super.error(`error: unknown command '${typed}'${suggestionOf(this.#meantBy(typed))}`, options)
    }
    if (options?.code === 'commander.missingMandatoryOptionValue') return this.#refuseMissing(options)
    if (options?.code === 'commander.unknownOption')
      return super.error(`${message}${this.#dashAdvice(message)}`, options)
    if (options?.code !== 'commander.excessArguments' || !takesText(this)) return super.error(message, options)
    return super.error(`${message}\n(A text of several words needs quotes)`, options)
  }

  /** A misspelled option is why another one is missing, so it is named first. */
  #refuseMissing(options: ErrorOptions): never {
    const [misspelt] = this.#unknown
    if (misspelt === undefined) {
      const missing = requiredOf(this).filter((option) => this.getOptionValue(option.attributeName()) === undefined)
      const names = missing.map(({ flags }) => `'${flags}'`).join(', ')
      return super.error(`error: required option${missing.length > 1 ? 's' : ''} ${names} not specified`, options)
    }
    const meant = similar(
      misspelt,
      this.options.flatMap(({ long }) => long ?? []),
    )
    return this.error(`error: unknown option '${misspelt}'${suggestionOf(meant)}`, {
      ...options,
      code: 'commander.unknownOption',
    })
  }

  /** How to write a text that was mistaken for an option. If an option was meant, a suggestion names it. */
  #dashAdvice(message: string): string {
    const isText = argumentsOf(this).includes('TEXT') && !message.includes('Did you mean')
    return isText ? `\n(A text that begins with - goes after --: ${wordsOf(this)} … -- TEXT)` : ''
  }

  /** The command from `MEANT`, one whose name begins the same or is similar, or the only one elsewhere with that name. */
  #meantBy(typed: string): string | null {
    const meant = MEANT[`${this.name()} ${typed}`] ?? MEANT[typed]
    if (meant !== undefined) return meant
    const names = this.commands.map((command) => command.name())
    const near = names.find((name) => name.startsWith(typed)) ?? similar(typed, names)
    if (near !== null) return near
    const [only, ...others] = leavesOf(rootOf(this)).filter((command) => command.name() === typed)
    return only === undefined || others.length > 0 ? null : wordsOf(only)
  }
}

const suggestionOf = (meant: string | null): string => (meant === null ? '' : `\n(Did you mean ${meant}?)`)

const rootOf = (command: Command): Command => (command.parent === null ? command : rootOf(command.parent))

/** The commands without commands of their own; nobody means those that play the provider when they mistype. */
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

const requiredOf = ({ options }: Command): Option[] => options.filter(({ mandatory }) => mandatory)

/** Whether it takes something that people type rather than copy. */
const takesText = (command: Command): boolean =>
  [...argumentsOf(command), ...requiredOf(command).map((option) => option.attributeName().toUpperCase())].some((name) =>
    ['TEXT', 'NAME', 'FILE'].includes(name),
  )
