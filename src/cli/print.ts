import { printable } from '../core/printable.ts'
import type { Finding } from '../operator/finding.ts'
import type { CliContext } from './context.ts'

/**
 * Prints one JSON value with `--json`, else a table, or lines of name and value. Names come from tenants, and texts from the
 * provider, so characters that act on a terminal are escaped.
 */
export function print(context: CliContext, value: unknown): void {
  context.stdout(context.json ? `${printable(JSON.stringify(value))}\n` : readable(value))
}

/** The symbol of each level, and its ANSI colour: green, yellow, red. */
const SYMBOLS: Record<Finding['level'], [symbol: string, colour: number]> = {
  ok: ['✓', 32],
  warn: ['!', 33],
  fail: ['✗', 31],
}

/** Prints the findings of the doctor, one line for each check. */
export function printFindings(context: CliContext, findings: readonly Finding[]): void {
  if (context.json) return print(context, findings)
  const width = Math.max(0, ...findings.map(({ check }) => check.length))
  const isColoured = context.terminal && (context.environment['NO_COLOR'] ?? '') === ''
  for (const { check, level, detail } of findings) {
    const [symbol, colour] = SYMBOLS[level]
    const painted = isColoured ? `\u001b[${colour}m${symbol}\u001b[0m` : symbol
    context.stdout(`${painted} ${check.padEnd(width)}  ${printable(detail)}\n`)
  }
}

function readable(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none\n' : table(value.map(fieldsOf))
  return lines(fieldsOf(value))
}

function table(rows: Record<string, string>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => (row[name] ?? '').length)))
  const line = (cells: string[]): string =>
    `${cells
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()}\n`
  return [line(names), ...rows.map((row) => line(names.map((name) => row[name] ?? '')))].join('')
}

function lines(fields: Record<string, string>): string {
  const width = Math.max(0, ...Object.keys(fields).map((name) => name.length))
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${value}\n`)
    .join('')
}

function fieldsOf(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return { value: printable(String(value)) }
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [printable(name), printable(cell(field))]))
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, field]) => `${name}=${cell(field)}`)
      .join(' ')
  return String(value)
}
