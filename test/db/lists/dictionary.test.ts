import { expect, test } from 'bun:test'
import { Dictionary } from '../../../src/db/lists/dictionary.ts'

test('every value has a distinct code, and any other text has none', () => {
  const values = [
    '',
    'a',
    'ab',
    'b',
    '+15555550100',
    '+1555555010',
    'é',
    '漢',
    '😀',
    '\u{10ffff}',
    '\ufffd',
    'a\nb',
    '0',
  ]
  const dictionary = Dictionary.of(values.toSorted())
  expect(dictionary.size).toBe(values.length)
  expect(values.map((value) => dictionary.codeOf(value)).toSorted((a, b) => a - b)).toEqual([...values.keys()])
  for (const other of ['abc', '+155555501', '+155555501000', 'É', '\ud83d', ' '])
    expect(dictionary.codeOf(other)).toBe(-1)
  expect(Dictionary.of([]).codeOf('')).toBe(-1)
})
