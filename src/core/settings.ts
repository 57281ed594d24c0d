import { codeOf } from './error-code.ts'
import { parseDuration } from './duration.ts'

const UNITS: Readonly<Record<string, number>> = { '': 1, KB: 1e3, MB: 1e6, GB: 1e9 }

/** Null if the text is no size. */
function parseBytes(text: string): number | null {
  const [, digits = '', unit = ''] = /^(\d{1,12}) ?([KMG]B)?$/i.exec(text) ?? []
  return digits === '' ? null : Number(digits) * (UNITS[unit.toUpperCase()] ?? 1)
}

/** The variables of the environment. `readFile` reads the file that a `NAME_FILE` names, and throws if it cannot. */
export interface Environment {
  values: Readonly<Record<string, string | undefined>>
  readFile(path: string): string
}

const PLACEHOLDERS = /^(changeme|change-me|change_me|secret|password|todo|xxx+|your[-_ ].*|<.*>|\.\.\.|example)$/i

/** `.env` and shells remove quotes around a value. `docker run --env-file` and a file with a secret do not. */
const IN_QUOTES = /^["'`“‘].*["'`”’]$/s

export const PERHAPS_SECRET = 'is not the path of a readable file; perhaps it is the secret itself'
export const GIVE_PATH = 'give the path of a file that contains it'

/** Whether a text in place of a path may be the secret itself: a JWT, an address, or one long word. No message may show it. */
export const isPerhapsSecret = (path: string): boolean =>
  /^eyJ[\w-]+\.[\w-]+\.[\w-]*$|:\/\/|^[\w+=-][\w+=/-]{19,}$/.test(path)

/** Reads variables and collects all problems, so that a start reports them at once. */
export class Settings {
  readonly problems: string[] = []
  /** All variables that were read, and their values; null for one that is not set. For a secret in a file, the content of the file. */
  readonly read = new Map<string, string | null>()

  constructor(readonly environment: Environment) {}

  /** Refuses a value in quotes, without showing it, because it may be a secret. */
  text(name: string): string | null {
    const isFirst = !this.read.has(name)
    const value = this.environment.values[name]?.trim() ?? ''
    if (isFirst) this.read.set(name, value === '' ? null : value)
    const isQuoted = IN_QUOTES.test(value)
    if (isQuoted && isFirst)
      this.problem(name, 'is in quotes', 'remove them (docker run --env-file makes them part of the value)')
    return value === '' || isQuoted ? null : value
  }

  /** A secret from `NAME`, or from the file that `NAME_FILE` names. Refuses placeholders. */
  secret(name: string): string | null {
    const value = this.text(name) ?? this.#fromFile(name)
    if (this.text(`${name}_FILE`) !== null && this.text(name) !== null)
      this.problem(name, `and ${name}_FILE are both set`, 'keep one of them')
    if (value !== null && PLACEHOLDERS.test(value)) {
      this.problem(name, 'is a placeholder', 'put the real value in')
      return null
    }
    return value
  }

  /** Whether the file exists and has a text. A file that cannot be read counts as existing. */
  hasFile(path: string): boolean {
    try {
      return this.environment.readFile(path).trim() !== ''
    } catch (error) {
      return !['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? 'ENOENT')
    }
  }

  oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
    const value = this.text(name)
    if (value === null) return fallback
    const found = allowed.find((candidate) => candidate === value)
    if (found === undefined) this.problem(name, `is "${value}"`, `use one of: ${allowed.join(', ')}`)
    return found ?? fallback
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const value = this.text(name)
    if (value === null) return fallback
    if (/^\d{1,10}$/.test(value) && Number(value) >= min && Number(value) <= max) return Number(value)
    this.problem(name, `is "${value}"`, `give a whole number from ${min} to ${max}`)
    return fallback
  }

  durationMs(name: string, fallback: string, minMs = 0): number {
    const value = this.text(name) ?? fallback
    const parsed = parseDuration(value)
    if (parsed !== null && parsed >= minMs) return parsed
    const least = parsed === null || minMs === 0 ? '' : `, at least ${minMs} ms`
    this.problem(name, `is "${value}"`, `give a duration such as 500ms, 15s, 5m, 24h or 7d${least}`)
    return parseDuration(fallback) ?? 0
  }

  /** Plain bytes, or with a unit: `500MB`. */
  bytes(name: string, fallback: string): number {
    const value = this.text(name) ?? fallback
    const parsed = parseBytes(value)
    if (parsed === null) this.problem(name, `is "${value}"`, 'give a size such as 500MB, 2GB or plain bytes, or 0')
    return parsed ?? parseBytes(fallback) ?? 0
  }

  flag(name: string, fallback: 'off' | 'on' = 'off'): boolean {
    return this.oneOf(name, ['0', '1', 'false', 'true', 'off', 'on'], fallback).match(/^(1|true|on)$/) !== null
  }

  list(name: string): string[] {
    return (this.text(name) ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  }

  /** Records that a variable is missing, unless it has another problem already. */
  missing(name: string, fix: string): void {
    if (!this.problems.some((problem) => problem.startsWith(name))) this.problem(name, 'is not set', fix)
  }

  problem(name: string, what: string, fix: string): void {
    this.problems.push(`${name} ${what}: ${fix}`)
  }

  #fromFile(name: string): string | null {
    const path = this.text(`${name}_FILE`)
    if (path === null) return null
    const value = this.#readFile(path)
    if (value !== null) this.read.set(`${name}_FILE`, value)
    const problem = (what: string, fix: string): void => this.problem(`${name}_FILE`, `names "${path}", ${what}`, fix)
    if (value === null && isPerhapsSecret(path))
      this.problem(`${name}_FILE`, PERHAPS_SECRET, `${GIVE_PATH}, or set ${name}`)
    else if (value === null) problem('which cannot be read', 'check the path and its permissions')
    else if (value === '') problem('which is empty', 'put the value into it')
    else if (IN_QUOTES.test(value)) problem('whose text is in quotes', 'remove them')
    else return value
    return null
  }

  #readFile(path: string): string | null {
    try {
      return this.environment.readFile(path).trim()
    } catch {
      return null
    }
  }
}
