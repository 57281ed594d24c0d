import { expect, test } from 'bun:test'
import type { ExtensionHealth } from '../../src/client/client.ts'
import { fineNumbersText, numbersStanding, subscriptionOf } from '../../src/console/page/setup/numbers-facts.ts'
import { timeZone } from '../../src/console/page/state/settings.ts'

timeZone.value = 'utc'

const NOW = Date.UTC(2026, 10, 24, 14, 26)
const at = (minutesAgo: number): string => new Date(NOW - minutesAgo * 60_000).toISOString()

const WELL: ExtensionHealth = {
  extensionId: 'ext_1',
  rcAccountId: 'account',
  extensionNumber: '101',
  name: 'Reception',
  status: 'active',
  reason: null,
  since: null,
  fix: null,
  phoneNumbers: ['+15035550100'],
  windowUsed: 3,
  windowLimit: 40,
  pausedUntil: null,
  subscription: { status: 'active', expiresAt: at(-600) },
  accessExpiresAt: at(-60),
  refreshExpiresAt: at(-6000),
  lastInboundAt: at(2),
}
const extension = (number: string, changes: Partial<ExtensionHealth> = {}): ExtensionHealth => ({
  ...WELL,
  extensionId: `ext_${number}`,
  extensionNumber: number,
  ...changes,
})
const REVOKED = { status: 'revoked', reason: 'Its authorization has ended', since: at(30), fix: null } as const

/** Of all extensions, the worst first. */
function sentencesOf(extensions: readonly ExtensionHealth[]): string[] {
  const { worst, byExtension } = numbersStanding(extensions, NOW)
  const facts = new Set([...(worst === null ? [] : [worst]), ...[...byExtension.values()].flat()])
  return [...facts].map(({ parts }) =>
    parts.map((part) => (typeof part === 'string' ? part : 'number' in part ? part.number : part.text)).join(''),
  )
}

test('Numbers says what cannot send first, then what is paused, and nothing of what is well', () => {
  const extensions = [extension('101', { pausedUntil: at(-6) }), extension('102', REVOKED), extension('103')]
  expect(sentencesOf(extensions)).toEqual([
    'Extension 102 was revoked: +15035550100 cannot send or receive',
    'RingCentral paused extension 101 until 14:32:00',
  ])
  const { byExtension } = numbersStanding(extensions, NOW)
  expect([...byExtension].map(([id, facts]) => [id, facts.map(({ kind }) => kind)])).toEqual([
    ['ext_101', ['warn']],
    ['ext_102', ['bad']],
    ['ext_103', []],
  ])
})

test('an extension that is revoked and paused has both, the worse one first; one whose id begins alike has neither', () => {
  const { byExtension } = numbersStanding([extension('10', { ...REVOKED, pausedUntil: at(-6) }), extension('101')], NOW)
  expect(byExtension.get('ext_10')?.map(({ rank }) => rank)).toEqual(['stopped', 'waits'])
  expect(byExtension.get('ext_101')).toEqual([])
})

test('a pause that is over is none, an extension without a number is trouble, and so is a tenant without an extension', () => {
  expect(sentencesOf([extension('101', { pausedUntil: at(1) })])).toEqual([])
  expect(sentencesOf([extension('101', { phoneNumbers: [] })])).toEqual(['Extension 101 has no number that can text'])
  expect(sentencesOf([extension('101', { ...REVOKED, phoneNumbers: [] })])).toHaveLength(1)
  expect(sentencesOf([])).toEqual(['No number is connected yet'])
})

test('the heading counts numbers and not extensions', () => {
  expect(fineNumbersText([extension('101')])).toBe('The number can send and receive')
  expect(fineNumbersText([extension('101'), extension('102')])).toBe('The number can send and receive')
  expect(fineNumbersText([extension('101'), extension('102', { phoneNumbers: ['+1'] })])).toBe(
    'Both numbers can send and receive',
  )
  expect(fineNumbersText([extension('101', { phoneNumbers: ['+1', '+2', '+3'] })])).toBe(
    'All 3 numbers can send and receive',
  )
})

test('a revoked extension has no active subscription, whatever was known of it last', () => {
  const of = (changes: Partial<ExtensionHealth>) => subscriptionOf(extension('101', changes))
  expect(of({})).toEqual({ word: 'active until', at: at(-600) })
  expect(of(REVOKED)).toEqual({ word: 'ended with the authorization,', at: at(30) })
  expect(of({ ...REVOKED, since: null })).toEqual({ word: 'ended', at: null })
  expect(of({ subscription: { status: 'expired', expiresAt: at(9) } })).toEqual({ word: 'expired since', at: at(9) })
})
