import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONDITIONS } from '../../src/operator/conditions/table.ts'
import { PROJECT } from '../support/program.ts'

const PAGE = readFileSync(join(PROJECT, 'docs/alerts.md'), 'utf8')

/** The first cell of each row, and how many others have something to say. */
const [, ...ROWS] = [...PAGE.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, alert = '', cells = '']) => ({
  alert,
  cells: cells.split(' | ').filter((cell) => cell.trim() !== '').length,
}))

test('each condition has its row in the manual, which says when it fires, what is at stake and what to do, and no other has one', () => {
  expect(ROWS.map(({ alert }) => alert).toSorted()).toEqual(CONDITIONS.map(({ alert }) => alert).toSorted())
  expect(ROWS.filter(({ cells }) => cells !== 3)).toEqual([])
})
