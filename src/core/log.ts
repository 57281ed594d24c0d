import pino from 'pino/browser'

/**
 * Structured log lines. Callers pass only values that anyone may read: ids, counts, states, error names, masked numbers. Never
 * a secret, a message text, a full number, a URL's path or query, or the message of a foreign error.
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

/** Uses Pino's build for browsers, which has no streams and threads: a start is 10 ms faster. */
export function createLog(options: LogOptions): Log {
  const write = options.write ?? ((line: string) => void process.stdout.write(line))
  const lineOf = options.format === 'json' ? jsonLine : prettyLine
  return pino({
    level: options.level,
    timestamp: pino.stdTimeFunctions.isoTime,
    browser: {
      formatters: { level: (level) => ({ level }) },
      write: (line) => write(lineOf(line)),
    },
  })
}

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** The name and code of an error. Logs keep nothing else of a foreign error, because its message can contain parameters. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const code: unknown = 'code' in error ? error.code : undefined
  return typeof code === 'string' ? `${error.name} ${code}` : error.name
}

const jsonLine = ({ level, ...rest }: { level?: string }): string => `${JSON.stringify({ level, ...rest })}\n`

function prettyLine(line: object): string {
  const { time, level, msg, ...fields } = line as Record<string, unknown>
  const rest = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${String(value)}`,
  )
  return `${[String(time).slice(11, 23), String(level).padEnd(5), String(msg), ...rest].join(' ')}\n`
}
