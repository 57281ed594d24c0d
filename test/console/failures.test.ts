import { expect, test } from 'bun:test'
import { FAILURE_CODES, MESSAGE_FAILURES, failureOf, rejected, unknownNumber } from '../../src/core/message-failure.ts'
import { FAILURES, wordOf } from '../../src/console/page/messages/failures.ts'

test('the page and the gateway judge every error alike, and the page has a word for each failure', () => {
  expect(Object.keys(FAILURES).toSorted()).toEqual(FAILURE_CODES.toSorted())
  const texts = [
    ...Object.values(MESSAGE_FAILURES).map(({ text }) => text),
    unknownNumber('+15555550177').text,
    rejected('Blocked', 'SMS-UP-430').text,
    rejected('Blocked', null).text,
  ]
  for (const text of texts) expect(failureOf(text).split(':')[0]).toBe(wordOf(text))
})
