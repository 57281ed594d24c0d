/**
 * Structured log lines. Callers hand in only what may be read by anyone: ids, counts, states, error names,
 * masked numbers. Never a secret, a message text, a full number, a URL's path or query, or another's error message.
 */
export interface Log {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
}

export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

export interface LogOptions {
  level: string
  format: 'json' | 'pretty'
  /** Where lines go; standard output if absent. */
  write?: (line: string) => void
}

/** From the most talkative to none at all. */
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** Our own few lines: a logging library takes some 20 ms to load. */
export function createLog(options: LogOptions): Log {
  const write = options.write ?? ((line: string) => void process.stdout.write(line))
  const format = options.format === 'json' ? jsonLine : prettyLine
  const lowest = LEVELS.indexOf(options.level)
  const logger = (level: keyof Log): Log[keyof Log] =>
    LEVELS.indexOf(level) < lowest
      ? () => {}
      : (fields, message) => write(format({ level, time: new Date().toISOString() }, fields, message))
  return { debug: logger('debug'), info: logger('info'), warn: logger('warn'), error: logger('error') }
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** The name of what was thrown: all that a log may keep of a foreign error, whose message can hold parameters. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const code: unknown = 'code' in error ? error.code : undefined
  return typeof code === 'string' ? `${error.name} ${code}` : error.name
}

interface Head {
  level: string
  time: string
}

const jsonLine = (head: Head, fields: LogFields, message: string): string =>
  `${JSON.stringify({ ...head, ...fields, msg: message })}\n`

function prettyLine({ level, time }: Head, fields: LogFields, message: string): string {
  const rest = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${String(value)}`,
  )
  return `${[time.slice(11, 23), level.padEnd(5), message, ...rest].join(' ')}\n`
}
