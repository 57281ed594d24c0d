import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as limits from '../../src/core/limits.ts'
import { PROJECT } from '../support/program.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/limits.md'), 'utf8')
/** Names of lengths of time, and no limits. */
const UNITS = ['HALF_HOUR_MS', 'HOUR_MS', 'DAY_MS']
const TIMES: [name: string, ms: number][] = [
  ['day', limits.DAY_MS],
  ['hour', limits.HOUR_MS],
  ['minute', 60_000],
  ['second', 1000],
]

/** A limit as the page writes it. The name ends with its unit. */
function written(name: string, value: number): string {
  if (name.includes('BYTES')) return inBytes(value)
  if (name.endsWith('_MS')) return inTime(value)
  const [, unit] = /_(DAYS|HOURS)$/.exec(name) ?? []
  return `${value.toLocaleString('en-US')}${unit === undefined ? '' : ` ${unit.toLowerCase()}`}`
}

function inBytes(bytes: number): string {
  if (bytes % 2 ** 20 === 0) return `${bytes / 2 ** 20} MiB`
  return bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} bytes`
}

/** In the longest unit that divides it; a day is 24 hours. */
function inTime(ms: number): string {
  const isOneDay = ms === limits.DAY_MS
  const [name, size] = TIMES.find(([unit, one]) => ms % one === 0 && !(isOneDay && unit === 'day')) ?? ['ms', 1]
  return `${ms / size} ${name}${ms === size || size === 1 ? '' : 's'}`
}

test('limits.md has every limit, with its value', () => {
  const rows = [...PAGE.matchAll(/^\| ([^|]+) \| [^|]+ \| `([A-Z0-9_]+)` \|$/gm)].map(([, value, name]) => [
    name,
    value,
  ])
  const known = Object.entries(limits).filter(([name]) => !UNITS.includes(name))
  const expected = known.map(([name, value]) => [name, written(name, Math.round(value))])
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(expected))
  expect(rows).toHaveLength(known.length)
})
