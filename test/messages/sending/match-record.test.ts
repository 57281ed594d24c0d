import { expect, test } from 'bun:test'
import type { StoredSms } from '../../../src/provider/provider.ts'
import { isDoubtful, matchRecord } from '../../../src/messages/sending/match-record.ts'
import { FROM, TO } from '../../support/world.ts'

const AT = Date.parse('2026-11-21T02:30:00.000Z')
const LONG = 'A text that a store may cut. '.repeat(5)

const recordOf = (providerMessageId: string, change: Partial<StoredSms> = {}): StoredSms => ({
  providerMessageId,
  direction: 'Outbound',
  from: FROM,
  to: [{ phoneNumber: TO, target: false }],
  text: 'Hello',
  messageStatus: 'Sent',
  deliveryErrorCode: null,
  createdAt: AT,
  mediaTypes: [],
  attachments: [],
  ...change,
})

const recipient = (phoneNumber: string | null) => ({ phoneNumber, target: false })

test('a record that names its contact twice is found', () => {
  expect(found([recordOf('1', { to: [recipient(TO), recipient(TO)] })])).toBe('1')
})

/** Returns the id of the record that counts as the attempt's own. */
const found = (
  records: readonly StoredSms[],
  text = 'Hello',
  taken: readonly string[] = [],
  mediaTypes: readonly string[] = [],
): string | undefined =>
  matchRecord({ from: FROM, to: TO, text, mediaTypes, since: AT }, records, new Set(taken))?.providerMessageId

test('a record of the same conversation and text is found', () => {
  expect(found([recordOf('1')])).toBe('1')
})

test.each<[string, Partial<StoredSms>]>([
  ['number', { from: '+15555550188' }],
  ['contact', { to: [{ phoneNumber: '+15555550188', target: false }] }],
  ['text', { text: 'Hello!' }],
  ['picture', { mediaTypes: ['image/png'] }],
  ['recipient besides', { to: [recipient(TO), recipient('+15555550188')] }],
  ['recipient before', { to: [recipient('+15555550188'), recipient(TO)] }],
  ['recipient without a number besides', { to: [recipient(TO), recipient(null)] }],
  ['list of recipients, which is empty,', { to: [] }],
])('a record with another %s is not', (_, change) => {
  expect(found([recordOf('1', change)])).toBeUndefined()
})

test('a record counts from 5 s before the attempt began', () => {
  expect(found([recordOf('1', { createdAt: AT - 5001 })])).toBeUndefined()
  expect(found([recordOf('1', { createdAt: AT - 5000 })])).toBe('1')
})

test('a record of another message is skipped, and the next one with the same text is found', () => {
  expect(found([recordOf('1'), recordOf('2')])).toBe('1')
  expect(found([recordOf('1'), recordOf('2')], 'Hello', ['1'])).toBe('2')
  expect(found([recordOf('1')], 'Hello', ['1'])).toBeUndefined()
})

test.each([
  ['blanks at its ends', ' Hello\u00A0you ', 'Hello you'],
  ['line ends', 'Hello\r\nyou', 'Hello\nyou'],
  ['non-breaking spaces', 'Hello\u202Fyou', 'Hello\u00A0you'],
  ['composed characters', 'Ame\u0301lie', 'Am\u00E9lie'],
])('a store that has changed %s is understood', (_, sent, stored) => {
  expect(found([recordOf('1', { text: stored })], sent)).toBe('1')
})

test('a truncated text matches if it has at least 100 characters', () => {
  expect(found([recordOf('1', { text: LONG.slice(0, 99) })], LONG)).toBeUndefined()
  expect(found([recordOf('1', { text: LONG.slice(0, 100) })], LONG)).toBe('1')
  expect(found([recordOf('1', { text: `${LONG.slice(0, 101)}…` })], LONG)).toBeUndefined()
})

test.each([
  ['100 characters that end in a space', `${'x'.repeat(99)} `],
  ['101 characters that end in two spaces', `${'x'.repeat(99)}  `],
  ['100 characters that begin with a line end', `\n${'x'.repeat(99)}`],
])('a truncated text of %s matches, because spaces count as the store keeps them', (_, kept) => {
  expect(found([recordOf('1', { text: kept })], `${kept}and the rest`)).toBe('1')
  expect(found([recordOf('1', { text: kept.slice(0, 99) })], `${kept}and the rest`)).toBeUndefined()
})

test('a record of spaces alone is no beginning of a text', () => {
  expect(found([recordOf('1', { text: ' '.repeat(120) })], LONG)).toBeUndefined()
})

test('a record with the complete text is preferred to an older one with a truncated text', () => {
  expect(found([recordOf('1', { text: LONG.slice(0, 110) }), recordOf('2', { text: LONG })], LONG)).toBe('2')
})

const PNG = 'image/png'
const JPEG = 'image/jpeg'

test.each<[string, (string | null)[], string[], boolean]>([
  ['the same media', [PNG], [PNG], true],
  ['the same media in another order', [JPEG, PNG, JPEG], [JPEG, JPEG, PNG], true],
  ['no media', [], [PNG], false],
  ['one more', [PNG, PNG], [PNG], false],
  ['one less', [PNG], [PNG, PNG], false],
  ['the same types, another of them twice', [PNG, JPEG, JPEG], [PNG, PNG, JPEG], false],
  ['another type', [JPEG], [PNG], false],
  ['a type that it does not say', [null], [PNG], true],
  ['a type that it does not say, and another one', [null, JPEG], [PNG, PNG], false],
  ['media, where a text is sought', [PNG], [], false],
])('a record with %s (%j) is found for %j: %p', (_, mediaTypes, sought, isFound) => {
  expect(found([recordOf('1', { mediaTypes })], 'Hello', [], sought)).toBe(isFound ? '1' : undefined)
})

test('media without a text are found by their types alone', () => {
  const records = [recordOf('1'), recordOf('2', { text: '', mediaTypes: [PNG] }), recordOf('3', { text: '' })]
  expect(found(records, '', [], [PNG])).toBe('2')
  expect(found(records, '')).toBe('3')
})

test.each<[string, Partial<StoredSms>, string[], boolean]>([
  ['as many media of other types', { mediaTypes: [JPEG] }, [PNG], true],
  ['more media', { mediaTypes: [JPEG, PNG] }, [PNG], false],
  ['other words', { mediaTypes: [JPEG], text: 'Bye' }, [PNG], false],
  ['another contact', { mediaTypes: [JPEG], to: [recipient('+15555550188')] }, [PNG], false],
  ['media, where a text is sought,', { mediaTypes: [PNG] }, [], false],
])('a record with %s says whether it is doubtful that the message is absent', (_, change, mediaTypes, expected) => {
  const sought = { from: FROM, to: TO, text: 'Hello', mediaTypes, since: AT }
  expect(isDoubtful(sought, [recordOf('1', change)], new Set())).toBe(expected)
  expect(isDoubtful(sought, [recordOf('1', change)], new Set(['1']))).toBe(false)
})
