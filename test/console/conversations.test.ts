import { expect, test } from 'bun:test'
import type { Conversation } from '../../src/client/client.ts'
import { answersText, answersTrouble, waitsForAnswer } from '../../src/console/page/conversations/answers.ts'
import { timeZone } from '../../src/console/page/state/settings.ts'
import { cannotSendOf } from '../../src/console/page/thread/contact-forms.ts'

timeZone.value = 'utc'

const NOW = Date.UTC(2026, 10, 24, 14, 26)

test('the sentence says how many conversations wait for an answer', () => {
  expect(answersText(3, 2)).toBe('2 of 3 conversations need your answer.')
  expect(answersText(2, 1)).toBe('1 of 2 conversations needs your answer.')
  expect(answersText(2, 0)).toBe('2 conversations, none needs your answer.')
  expect(answersText(1, 1)).toBe('One conversation needs your answer.')
  expect(answersText(1, 0)).toBe('One conversation.')
  expect(answersText(41_118, 999)).toBe('999 of 41,118 conversations need your answer.')
  expect(answersText(41_118, 1000)).toBe('1,000+ of 41,118 conversations need your answer.')
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

test('a number of no working extension cannot send', () => {
  const extensions = [
    { status: 'active', phoneNumbers: ['+1'] },
    { status: 'revoked', phoneNumbers: ['+2'] },
    { status: 'refresh_failed', phoneNumbers: ['+3'] },
  ] as const
  const known = extensions.map(({ phoneNumbers, ...rest }) => ({ ...rest, phoneNumbers: [...phoneNumbers] }))
  expect(cannotSendOf(['+1', '+2', '+3', '+4'], known)).toEqual(['+2', '+3', '+4'])
})
