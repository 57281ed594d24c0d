import pino from 'pino/browser'
import { codeOf, rootOf } from './error-code.ts'
import { printable } from './printable.ts'

/**
 * Structured log lines. Callers pass only values that anyone may read: ids, counts, states, error names, masked numbers. Never
 * a secret, a message text, a full number, a URL's path or query, or the message of a foreign error.
 */
export interface Log {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  /**
   * A line of level `info` about a change: who made it, and what it changed. Never suppressed, because otherwise many changes would hide later
   * ones. Not for refused calls.
   */
  audit(fields: LogFields, message: string): void
}

/** An `Error` is only for `cause`: its message and stack are written outside production, but never in production. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined | Error>>

export interface LogOptions {
  level: string
  format: 'json' | 'pretty'
  /** Whether the message and stack of a `cause` are written: they may contain data that only a developer may read. */
  causes?: boolean
  /** Where lines go; standard output if absent. */
  write?: (line: string) => void
  /** Monotonic milliseconds. */
  now?: () => number
}

interface Line {
  level: string
  msg: string
  cause?: unknown
}

/** How many lines of one message are written in a minute, except audits. Callers without a key could otherwise fill the disk. */
export const MAX_LINES_PER_MINUTE = 60
const MINUTE_MS = 60_000

/** Uses Pino's build for browsers, which has no streams or threads, so a start is 10 ms faster. */
export function createLog(options: LogOptions): Log {
  const write = options.write ?? ((line: string) => void process.stdout.write(line))
  const lineOf = options.format === 'json' ? jsonLine : prettyLine
  const writeLine = (line: Line): void => write(lineOf(withCause(line, options.causes ?? false)))
  const audits = loggerOf(options.level, writeLine)
  const log = loggerOf(options.level, throttled(writeLine, options.now ?? (() => performance.now())))
  return Object.assign(log, { audit: (fields: LogFields, message: string) => audits.info(fields, message) })
}

const loggerOf = (level: string, writeLine: (line: Line) => void): pino.Logger =>
  pino({
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    browser: {
      formatters: { level: (name) => ({ level: name }) },
      write: (line) => writeLine(line as Line),
    },
  })

/** Writes the first lines of each message in a minute. The next minute begins with the number of suppressed lines. */
function throttled(write: (line: Line) => void, now: () => number): (line: Line) => void {
  /** Message → its last line and their number. */
  const counted = new Map<string, { line: Line; count: number }>()
  let endsAt = now() + MINUTE_MS
  const endMinute = (): void => {
    for (const { line, count } of counted.values())
      if (count > MAX_LINES_PER_MINUTE) write({ ...line, leftOut: count - MAX_LINES_PER_MINUTE } as Line)
    counted.clear()
    endsAt = now() + MINUTE_MS
  }
  return (line) => {
    if (now() >= endsAt) endMinute()
    if (line.level === 'debug' || line.level === 'trace') return write(line)
    const count = (counted.get(line.msg)?.count ?? 0) + 1
    counted.set(line.msg, { line, count })
    if (count <= MAX_LINES_PER_MINUTE) write(line)
  }
}

function withCause({ cause, ...line }: Line, isWritten: boolean): Line {
  if (!isWritten || !(cause instanceof Error)) return line
  const { message, stack } = rootOf(cause)
  return { ...line, detail: message, stack } as Line
}

/** An unexpected error, for a log line. */
export const unexpected = (error: unknown): { error: string; cause: Error | undefined } => ({
  error: errorName(error),
  cause: error instanceof Error ? error : undefined,
})

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, audit() {} }

/** The name and code of an error. Logs keep nothing else of a foreign error, because its message can contain parameters. */
export function errorName(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { name } = rootOf(error)
  const code = codeOf(error)
  return code === null ? name : `${name} ${code}`
}

const jsonLine = ({ level, ...rest }: Line): string => `${JSON.stringify({ level, ...rest })}\n`

function prettyLine(line: object): string {
  const { time, level, msg, stack, ...fields } = line as Record<string, unknown>
  const rest = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${String(value)}`,
  )
  const trace = typeof stack === 'string' ? stack.split('\n').map((call) => `${printable(call)}\n`) : []
  return [
    `${printable([String(time).slice(11, 23), String(level).padEnd(5), String(msg), ...rest].join(' '))}\n`,
    ...trace,
  ].join('')
}
