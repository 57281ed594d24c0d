import { describe, expect, test } from 'bun:test'
import { SegmentedMessage } from 'sms-segments-calculator'
import { segmentsOf, textSize } from '../../src/client/segments.ts'

const sizes = (text: string) => {
  const { encoding, segments, characters } = textSize(text)
  return [encoding, segments, characters]
}

describe('segments', () => {
  test('a GSM-7 text has up to 160 septets in one segment, or 153 in each of several', () => {
    expect(sizes('a'.repeat(160))).toEqual(['GSM-7', 1, 160])
    expect(sizes('a'.repeat(161))).toEqual(['GSM-7', 2, 161])
    expect(sizes('a'.repeat(306))).toEqual(['GSM-7', 2, 306])
    expect(sizes('a'.repeat(307))).toEqual(['GSM-7', 3, 307])
    expect(sizes('a'.repeat(1600))).toEqual(['GSM-7', 11, 1600])
  })

  test('a UCS-2 text has up to 70 units in one segment, or 67 in each of several', () => {
    expect(sizes('ж'.repeat(70))).toEqual(['UCS-2', 1, 70])
    expect(sizes('ж'.repeat(71))).toEqual(['UCS-2', 2, 71])
    expect(sizes('ж'.repeat(134))).toEqual(['UCS-2', 2, 134])
    expect(sizes('ж'.repeat(135))).toEqual(['UCS-2', 3, 135])
  })

  test('characters of the extension table take two septets and are not split', () => {
    expect(sizes('€'.repeat(80))).toEqual(['GSM-7', 1, 160])
    expect(sizes('€'.repeat(81))).toEqual(['GSM-7', 2, 162])
    // 76 of them fill 152 of 153 septets.
    expect(sizes('€'.repeat(152))).toEqual(['GSM-7', 2, 304])
    expect(sizes('€'.repeat(153))).toEqual(['GSM-7', 3, 306])
  })

  test('a surrogate pair takes two units and is not split', () => {
    expect(sizes('😀'.repeat(35))).toEqual(['UCS-2', 1, 70])
    expect(sizes('😀'.repeat(36))).toEqual(['UCS-2', 2, 72])
    // 33 of them fill 66 of 67 units.
    expect(sizes('😀'.repeat(67))).toEqual(['UCS-2', 3, 134])
  })

  test('line breaks are GSM-7, and the backtick, the tab and the lower-case ç are not', () => {
    expect(sizes('a\r\nb')).toEqual(['GSM-7', 1, 4])
    for (const char of ['`', '\t', 'ç', '’', '–', '\u{a0}']) expect(sizes(char)).toEqual(['UCS-2', 1, 1])
  })

  test('characters outside GSM-7 are listed once each, as code points', () => {
    expect(textSize('Ünïcode 😀 😀 ï e\u{301}').nonGsmCharacters).toEqual(['ï', '😀', '\u{301}'])
    expect(textSize('Only plain {text}').nonGsmCharacters).toEqual([])
  })

  test('a cluster of many combining marks is split like other text', () => {
    expect(segmentsOf(`e${'\u{301}'.repeat(300)}`)).toBe(5)
  })

  test('for random texts of single code points, the count equals that of a well-known library', () => {
    const alphabets = ['abcXYZ 09?!', 'aé€[]~', 'жщabc', 'a😀€ñ'].map((text) => Array.from(text))
    for (let length = 1, state = 7; length <= 500; length += 37) {
      for (const alphabet of alphabets) {
        const chars = Array.from({ length }, () => {
          state = (state * 48271) % 2147483647
          return alphabet[state % alphabet.length] ?? ''
        })
        const text = chars.join('')
        const expected = new SegmentedMessage(text)
        expect([text, ...sizes(text).slice(0, 2)]).toEqual([text, expected.encodingName, expected.segmentsCount])
      }
    }
  })
})
