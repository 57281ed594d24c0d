import { expect, test } from 'bun:test'
import type { StoredSms } from '../../../src/provider/provider.ts'
import { matchRecord } from '../../../src/messages/sending/match-record.ts'
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
  hasMedia: false,
  attachments: [],
  ...change,
})

const recipient = (phoneNumber: string | null) => ({ phoneNumber, target: false })

test('a record that names its contact twice is found', () => {
  expect(found([recordOf('1', { to: [recipient(TO), recipient(TO)] })])).toBe('1')
})

/** Returns the id of the record that counts as the attempt's own. */
const found = (records: readonly StoredSms[], text = 'Hello', taken: readonly string[] = []): string | undefined =>
  matchRecord({ from: FROM, to: TO, text, since: AT }, records, new Set(taken))?.providerMessageId

test('a record of the same conversation and text is found', () => {
  expect(found([recordOf('1')])).toBe('1')
})

test.each<[string, Partial<StoredSms>]>([
  ['number', { from: '+15555550188' }],
  ['contact', { to: [{ phoneNumber: '+15555550188', target: false }] }],
  ['text', { text: 'Hello!' }],
  ['picture', { hasMedia: true }],
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
