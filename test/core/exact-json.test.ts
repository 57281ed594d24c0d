import { expect, spyOn, test } from 'bun:test'
import { digitsOf, parseExactJson, writeExactJson } from '../../src/core/exact-json.ts'
import { Random } from '../security/malformed-requests.ts'

const NUMBERS = ['0', '-0', '1', '1.0', '-1.50', '1e3', '1E+3', '2e-07', '0.1', '123456789012345', '9007199254740993']
const TEXTS = [
  '""',
  '"1.0"',
  String.raw`"\"-1.0"`,
  String.raw`"\\"`,
  String.raw`"\u0031.0"`,
  '"[-1e3]"',
  '"__proto__"',
  'true',
  'null',
]

function randomJson(random: Random, depth: number): string {
  if (depth === 0 || random.chance(0.3)) return random.pick(random.chance(0.6) ? NUMBERS : TEXTS)
  const values = Array.from({ length: random.below(5) }, () => randomJson(random, depth - 1))
  if (random.chance(0.5)) return `[${values.join(',')}]`
  const names = ['__proto__', 'constructor', '-1.0', 'a.b', 'é']
  return `{${values.map((value, at) => `"${names[at] ?? at}":${value}`).join(',')}}`
}

test('JSON is written again as it was read, each number digit for digit', () => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  const random = new Random(seed)
  for (let run = 0; run < 3000; run++) {
    const text = randomJson(random, 5)
    // Written again, an escape of a letter is the letter.
    expect([seed, writeExactJson(parseExactJson(text))]).toEqual([seed, text.replaceAll(String.raw`\u0031`, '1')])
  }
})

test('a number that JavaScript writes in another way is none of its objects, and others are numbers', () => {
  expect(['1.0', '-0', '1e3', '9007199254740993'].map((text) => digitsOf(parseExactJson(text)))).toEqual([
    '1.0',
    '-0',
    '1e3',
    '9007199254740993',
  ])
  for (const value of [1, 'a', null, true, {}, []]) expect(digitsOf(value)).toBe(null)
  expect(parseExactJson(' [ 1 , 20 ] ')).toEqual([1, 20])
})

test('what is no JSON is refused, wherever its numbers stand', () => {
  for (const text of [
    '',
    '1.',
    '-',
    '01',
    '.5',
    '1e',
    '--1',
    '+1',
    '{1.0:2}',
    '{"a":1.0',
    '[1.0,]',
    '"1.0',
    '[-]',
    '[1.0]x',
    'NaN',
  ])
    expect(() => parseExactJson(text)).toThrow(SyntaxError)
})

test('no function is called for each value of a body', () => {
  using parse = spyOn(JSON, 'parse')
  parseExactJson(`[${'1.0,'.repeat(20_000)}1]`)
  expect(parse.mock.calls.map((args) => args.length)).toEqual([1, 1])
})
