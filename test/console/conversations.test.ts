import { expect, test } from 'bun:test'
import type { Conversation, Message } from '../../src/client/client.ts'
import { answersText, answersTrouble, waitsForAnswer } from '../../src/console/page/conversations/answers.ts'
import { heldText } from '../../src/console/page/conversations/held.ts'
import { timeZone } from '../../src/console/page/state/settings.ts'
import { cannotSendOf } from '../../src/console/page/thread/cannot-send.ts'

timeZone.value = 'utc'

const NOW = Date.UTC(2026, 10, 24, 14, 26)

test('the sentence says how many conversations wait for an answer', () => {
  expect(answersText(3, 2)).toBe('2 of 3 conversations wait for your answer.')
  expect(answersText(2, 1)).toBe('1 of 2 conversations waits for your answer.')
  expect(answersText(2, 0)).toBe('2 conversations, none waits for your answer.')
  expect(answersText(1, 1)).toBe('One conversation waits for your answer.')
  expect(answersText(1, 0)).toBe('One conversation.')
  expect(answersText(41_118, 999)).toBe('999 of 41,118 conversations wait for your answer.')
  expect(answersText(41_118, 1000)).toBe('1,000+ of 41,118 conversations wait for your answer.')
  expect(answersTrouble(0)).toBeNull()
  expect(answersTrouble(1000)).toEqual({ count: '1,000+', kind: 'plain', word: 'to answer' })
})

test('a row waits for an answer exactly if the gateway counts it', () => {
  const waits = (changes: Partial<Conversation>, message: Partial<Conversation['lastMessage']> = {}): boolean => {
    const at = new Date(NOW).toISOString()
    const lastMessage = {
      messageId: 'msg_1',
      direction: 'inbound',
      status: 'received',
      body: '',
      createdAt: at,
    } as const
    const row = { number: '+15555550100', contact: '+15555550199', optedOut: false, ...changes }
    return waitsForAnswer({ ...row, lastMessage: { ...lastMessage, ...message } }, NOW)
  }
  expect(waits({})).toBe(true)
  expect(waits({}, { direction: 'outbound', status: 'sent' })).toBe(false)
  for (const contact of ['72345', 'Pizza', '+72345', '+05555550199'])
    expect([contact, waits({ contact })]).toEqual([contact, false])
  expect(waits({ optedOut: true })).toBe(false)
  expect(waits({}, { createdAt: new Date(NOW - 7 * 86_400_000).toISOString() })).toBe(true)
  expect(waits({}, { createdAt: new Date(NOW - 7 * 86_400_000 - 1).toISOString() })).toBe(false)
})

test('the first waiting text goes out when its wait can be over first; a wait without an end may be over now', () => {
  const text = (...waits: Pick<Message, 'waiting'>['waiting'][]) =>
    Object.values(
      heldText(
        waits.map((waiting) => (waiting === undefined ? {} : { waiting })),
        NOW,
      ),
    ).join(' | ')
  const paused = { reason: 'provider_paused', until: '2026-11-24T14:30:08.000Z' } as const
  const later = { reason: 'scheduled', until: '2026-11-28T09:00:00.000Z' } as const
  expect(text(paused)).toBe(', after 14:30:08 | RingCentral paused your number until then.')
  expect(text({ reason: 'order' }, paused)).toBe(', after 14:30:08 | RingCentral paused your number until then.')
  expect(text(later)).toBe(', after 28 Nov 09:00 | ')
  expect(text(later, paused)).toBe(text(paused))
  expect(text(later, { reason: 'order' })).toBe(' | An earlier message goes first.')
  expect(text(paused, { reason: 'reconciling' })).toBe(' | The gateway asks whether it arrived.')
  expect(text(paused, undefined)).toBe(' | ')
  expect(text(null, later)).toBe(' | ')
})

test('a number of no working extension cannot send', () => {
  const extensions = [
    { status: 'active', phoneNumbers: ['+1'] },
    { status: 'revoked', phoneNumbers: ['+2'] },
    { status: 'refresh_failed', phoneNumbers: ['+3'] },
  ] as const
  const known = extensions.map(({ phoneNumbers, ...rest }) => ({ ...rest, phoneNumbers: [...phoneNumbers] }))
  expect(cannotSendOf(['+1', '+2', '+3', '+4'], known)).toEqual(['+2', '+3', '+4'])
})
