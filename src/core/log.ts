import pino from 'pino'

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

export function createLog(options: LogOptions): Log {
  const write = options.write ?? ((line: string) => void process.stdout.write(line))
  const destination = { write: options.format === 'json' ? write : (line: string) => write(prettyLine(line)) }
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    destination,
  )
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** The name of what was thrown: all that a log may keep of a foreign error, whose message can hold parameters. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const code: unknown = 'code' in error ? error.code : undefined
  return typeof code === 'string' ? `${error.name} ${code}` : error.name
}

function prettyLine(line: string): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${String(value)}`)
  return `${[String(time).slice(11, 23), String(level).padEnd(5), String(msg), ...rest].join(' ')}\n`
}
