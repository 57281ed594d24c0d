import { afterEach, expect, test } from 'bun:test'
import { chosenTime, soonest } from '../../src/console/page/conversations/send-at.ts'
import { timeZone } from '../../src/console/page/state/settings.ts'

const NOW = Date.parse('2026-11-23T14:26:08.000Z')

afterEach(() => void (timeZone.value = 'local'))

test('a chosen time is one of the zone in which times are shown', () => {
  timeZone.value = 'utc'
  const utc = { sendAt: '2026-11-24T09:00:00.000Z', note: '', isWrong: false }
  expect(chosenTime('2026-11-24T09:00', NOW)).toEqual(utc)
  timeZone.value = 'local'
  expect(chosenTime('2026-11-24T09:00', NOW).sendAt).toBe(new Date(2026, 10, 24, 9).toISOString())
})

test('a text goes out at once without a time, and with one that has passed', () => {
  expect(chosenTime(null, NOW)).toEqual({ sendAt: undefined, note: '', isWrong: false })
  timeZone.value = 'utc'
  const past = chosenTime('2026-11-23T14:26', NOW)
  expect(past.sendAt).toBeUndefined()
  expect(past.isWrong).toBe(false)
  expect(past.note).toContain('at once')
})

test('no time, and one that the gateway would refuse, are wrong', () => {
  timeZone.value = 'utc'
  for (const [value, note] of [
    ['', 'Choose a date and a time.'],
    ['soon', 'Choose a date and a time.'],
    ['2026-12-23T14:27', '30 days ahead'],
    ['9999-12-31T23:59', '30 days ahead'],
  ] as const) {
    const chosen = chosenTime(value, NOW)
    expect(chosen.sendAt).toBeUndefined()
    expect(chosen.isWrong).toBe(true)
    expect(chosen.note).toContain(note)
  }
  expect(chosenTime('2026-12-23T14:26', NOW).isWrong).toBe(false)
})

test('what is offered first is at least an hour ahead, on the hour', () => {
  timeZone.value = 'utc'
  expect(soonest(NOW)).toBe('2026-11-23T16:00')
  timeZone.value = 'local'
  expect(soonest(NOW)).toEndWith(':00')
  const aheadMs = Date.parse(soonest(NOW)) - NOW
  expect(aheadMs).toBeGreaterThanOrEqual(3_600_000)
  expect(aheadMs).toBeLessThan(7_200_000)
})
