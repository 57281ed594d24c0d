import { describe, expect, test } from 'bun:test'
import { keywordOf } from '../../src/core/keyword.ts'
import { NO_KEYWORDS, OPT_IN_WORDS, OPT_OUT_WORDS, formsOf } from '../support/keyword-forms.ts'

/** The forms of a word that are not read as `meaning`, so that a failure names them. */
const misread = (word: string, meaning: 'out' | 'in'): string[] =>
  formsOf(word).filter((form) => keywordOf(form) !== meaning)

describe('a keyword counts however it is written', () => {
  test.each(OPT_OUT_WORDS)('%s opts out', (word) => expect(misread(word, 'out')).toEqual([]))
  test.each(OPT_IN_WORDS)('%s opts in', (word) => expect(misread(word, 'in')).toEqual([]))
  test('dashes of any kind are one', () => {
    for (const dash of '-‐‑‒–—−－﹣') expect([dash, keywordOf(`opt${dash}out`)]).toEqual([dash, 'out'])
  })
  test('a text as long as an SMS can be', () => {
    for (const rest of ['!', '\u200B', '\n', '🛑', '\u3164', '´'])
      expect([rest, keywordOf(`STOP${rest.repeat(1596 / rest.length)}`)]).toEqual([rest, 'out'])
  })
})

test('a text that contains anything else is no keyword', () => {
  expect(NO_KEYWORDS.filter((text) => keywordOf(text) !== null)).toEqual([])
})

/** Characters that are costly to trim, to remove or to normalise when there are many in a row. */
const COSTLY = [
  '\u200B',
  '!',
  ' ',
  '\u3000',
  '´',
  '–',
  'Ⓢ',
  '\u{1D15E}',
  '🛑',
  '👨‍👩‍👧‍👦',
  '1️⃣',
  '\u3164',
  '\u034F',
  '…',
  'ﷺ',
  '\uD800',
  '\u0301\u0323',
  '\u0344',
  'a\u0301\u0323',
  '! ',
  '!a',
  '\u200B!',
  'STOP ',
]

test('no text takes longer than a fraction of a millisecond', () => {
  for (const length of [1600, 102_400])
    for (const piece of COSTLY) {
      const rest = piece.repeat(length / piece.length - 4)
      for (const text of [`STOP${rest}`, `ST${rest}OP`, `${rest}STOP`]) {
        const found = [piece, length, cpuMs(() => keywordOf(text)) < 1]
        expect(found).toEqual([piece, length, true])
      }
    }
})

/** The processor's time for a call, the least of many: what else the machine does is no part of it. */
function cpuMs(call: () => unknown): number {
  let least = Infinity
  for (let run = 0; run < 20; run++) {
    const before = process.cpuUsage()
    call()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}
