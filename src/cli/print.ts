import { printable } from '../core/printable.ts'
import type { Finding } from '../operator/doctor/finding.ts'
import type { CliContext } from './context.ts'
import { type Colour, paint } from './style.ts'
import { lines, table } from './table.ts'
import { hanging } from './wrap.ts'

/**
 * Prints one JSON value with `--json`, otherwise a table or lines of name and value. Escapes terminal control characters, because names come
 * from tenants and texts from the provider.
 */
export function print(context: CliContext, value: unknown): void {
  context.stdout(context.json ? `${printable(JSON.stringify(value))}\n` : readable(context, value))
}

/** Tells a person at the terminal what to do next. */
export function sayNext({ json, showsProgress, stderr }: CliContext, text: string): void {
  if (showsProgress && !json) stderr(`${text}\n`)
}

/** Says how much of a list is shown and how to see more; nothing if all of it is shown. */
export function pageLine({ shown, total, page, limit }: PageCounts): string {
  if (shown === total) return ''
  const pages = Math.ceil(total / limit)
  if (shown === 0) return `${total} in all: the last page is ${pages}\n`
  const more = page < pages ? `: --page ${page + 1} shows more` : ''
  return `${shown} of ${total}, page ${page} of ${pages}${more}\n`
}

interface PageCounts {
  shown: number
  total: number
  page: number
  limit: number
}

const SYMBOLS: Record<Finding['level'], [symbol: string, colour: Colour]> = {
  ok: ['✓', 'green'],
  warn: ['!', 'yellow'],
  fail: ['✗', 'red'],
}

/** The symbol of a level: ✓ ! ✗. */
export const symbolOf = (context: CliContext, level: Finding['level']): string => paint(context, ...SYMBOLS[level])

/** A feature that is not in use, and need not be, is neither good nor bad. */
const isOff = ({ level, detail }: Finding): boolean => level === 'ok' && detail.startsWith('off:')

/** Prints the findings of the doctor, one line for each check; on a terminal, long findings wrap. */
export function printFindings(context: CliContext, findings: readonly Finding[]): void {
  if (context.json) return print(context, findings)
  const width = Math.max(0, ...findings.map(({ check }) => check.length))
  for (const finding of findings) {
    const symbol = isOff(finding) ? paint(context, '–', 'grey') : symbolOf(context, finding.level)
    context.stdout(hanging(context, `${symbol} ${finding.check.padEnd(width)}  `, printable(finding.detail)))
  }
}

function readable(context: CliContext, value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none\n' : table(context, value.map(fieldsOf))
  return lines(context, fieldsOf(value))
}

function fieldsOf(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return { value: String(value) }
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, cell(field)]))
}

function cell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(cell).join(' ')
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, field]) => `${name}=${cell(field)}`)
      .join(' ')
  return String(value)
}
