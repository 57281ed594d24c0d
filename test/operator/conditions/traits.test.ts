import { expect, test } from 'bun:test'
import { CONDITIONS } from '../../../src/operator/conditions/table.ts'
import { TRAITS } from '../../../src/operator/conditions/traits.ts'

test('only a condition of the table has traits, and each condition has one name', () => {
  const names = CONDITIONS.map(({ alert }) => alert)
  expect(Object.keys(TRAITS).filter((name) => !names.includes(name))).toEqual([])
  expect(new Set(names).size).toBe(names.length)
})
