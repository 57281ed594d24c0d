import { expect, test } from 'bun:test'
import type { Conversation, Message } from '../../src/client/client.ts'
import { answersText } from '../../src/console/page/conversations/answers.ts'
import { heldText } from '../../src/console/page/conversations/held.ts'
import { timeZone } from '../../src/console/page/state/settings.ts'
import { cannotSendOf } from '../../src/console/page/thread/cannot-send.ts'

timeZone.value = 'utc'

const NOW = Date.UTC(2026, 10, 24, 14, 26)

const last = (direction: Conversation['lastMessage']['direction']): Pick<Conversation, 'lastMessage'> => ({
  lastMessage: { messageId: 'msg_1', direction, status: 'sent', body: '', createdAt: '' },
})

test('the sentence says how many conversations wait for an answer', () => {
  const text = (...directions: Parameters<typeof last>[0][]) => answersText(directions.map(last))
  expect(text('inbound', 'inbound', 'outbound')).toBe('2 of 3 conversations wait for your answer.')
  expect(text('inbound', 'outbound')).toBe('1 of 2 conversations waits for your answer.')
  expect(text('outbound', 'outbound')).toBe('2 conversations, none waits for your answer.')
  expect(text('inbound')).toBe('One conversation waits for your answer.')
  expect(text('outbound')).toBe('One conversation.')
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
