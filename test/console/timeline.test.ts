import { expect, test } from 'bun:test'
import type { Timeline } from '../../src/client/client.ts'
import { linesOf } from '../../src/console/page/messages/timeline-lines.ts'
import { timeZone } from '../../src/console/page/state/settings.ts'

timeZone.value = 'utc'

const NOW = Date.UTC(2026, 10, 24, 14, 26)
const at = (secondsAgo: number): string => new Date(NOW - secondsAgo * 1000).toISOString()

const notes = (timeline: Partial<Timeline>): string[] =>
  linesOf(
    { messageId: 'msg_1', status: 'failed', deliveryStatus: null, waiting: null, entries: [], ...timeline },
    [],
    NOW,
  ).map(({ name, note }) => `${name}: ${note ?? ''}`)

test('a 429 is safe to repeat, also where the message failed later for a reason that lasts', () => {
  const attempt = { type: 'attempt', outcome: 'not_accepted', durationMs: 100 } as const
  expect(
    notes({
      entries: [
        { type: 'queued', at: at(90) },
        { ...attempt, number: 1, at: at(90), httpStatus: 429, errorCode: 'CMN-301' },
        { ...attempt, number: 2, at: at(30) },
        { type: 'failed', at: at(29), error: 'Extension not connected — re-authorize via invite link' },
      ],
    }).filter((line) => line.startsWith('Attempt')),
  ).toEqual([
    'Attempt 1: HTTP 429, CMN-301. Not accepted, safe to repeat.',
    'Attempt 2: The call did not get through. Not accepted. Repeating would fail, too.',
  ])
})

test("a text that another one's 429 holds says why it waits, and why it waited", () => {
  const waiting = { reason: 'provider_paused', until: at(-60) } as const
  expect(notes({ status: 'queued', waiting, entries: [{ type: 'queued', at: at(30) }] })).toEqual([
    'Accepted: ',
    'Queued: RingCentral paused the extension until 14:27:00.',
  ])
  const attempt = {
    type: 'attempt',
    number: 1,
    outcome: 'accepted',
    durationMs: 200,
    heldBy: 'provider_paused',
  } as const
  const sent = { type: 'sent', at: at(9), rcMessageId: '1' } as const
  expect(
    notes({ status: 'sent', entries: [{ type: 'queued', at: at(30) }, { ...attempt, at: at(10) }, sent] }),
  ).toEqual([
    'Accepted: ',
    'Queued: RingCentral had paused the extension, after a 429 for another message.',
    'Attempt 1: ',
    'Sent: ',
  ])
  expect(notes({ status: 'queued', entries: [{ type: 'queued', at: at(30) }] })).toEqual(['Accepted: ', 'Queued: '])
})
