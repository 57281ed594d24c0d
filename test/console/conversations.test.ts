import { expect, test } from 'bun:test'
import type { Conversation } from '../../src/client/client.ts'
import { answersText } from '../../src/console/page/conversations/answers.ts'
import { cannotSendOf } from '../../src/console/page/thread/cannot-send.ts'

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

test('a number of no working extension cannot send', () => {
  const extensions = [
    { status: 'active', phoneNumbers: ['+1'] },
    { status: 'revoked', phoneNumbers: ['+2'] },
    { status: 'refresh_failed', phoneNumbers: ['+3'] },
  ] as const
  const known = extensions.map(({ phoneNumbers, ...rest }) => ({ ...rest, phoneNumbers: [...phoneNumbers] }))
  expect(cannotSendOf(['+1', '+2', '+3', '+4'], known)).toEqual(['+2', '+3', '+4'])
})
