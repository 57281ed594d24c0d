import { expect, test } from 'bun:test'
import type { CliContext } from '../../src/cli/context.ts'
import { steps } from '../../src/cli/steps.ts'

const at = '2026-11-24T15:47:07.000Z'
const words = 'Service temporarily unavailable, try again later, and tell us if it lasts for a day'

const shown = (columns: number | null, message: string): string[] =>
  steps({ columns, terminal: false, environment: {} } as CliContext, [
    { at, type: 'queued' },
    { at, type: 'attempt', number: 1, outcome: 'not_accepted', httpStatus: 503, durationMs: 4, message },
  ])
    .trimEnd()
    .split('\n')

test('on a narrow terminal no word of a step is cut, and no line is longer', () => {
  const lines = shown(80, words)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
  expect(lines[2]).toStartWith('11-24 15:47:07  attempt  number=1 outcome=not_accepted httpStatus=503')
  const text = lines.map((line) => line.slice(25)).join(' ')
  expect(text).toContain(`message=${words}`)
})

test('a word that is longer than a line is broken, and an escape character is none', () => {
  const lines = shown(80, `${'x'.repeat(150)}\u001B[31m`)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
  expect(lines.join('')).not.toContain('\u001B')
  expect(lines.join('').match(/x/g)).toHaveLength(150)
})

test('where standard output is no terminal, each step is one line', () => {
  expect(shown(null, words)).toHaveLength(3)
})
