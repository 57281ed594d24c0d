import { describe, expect, test } from 'bun:test'
import type { MessageQuery, StoredSms } from '../../../src/provider/provider.ts'
import { ACCESS_TOKEN, clientOf, failureOf, httpServer, valueOf } from './servers.ts'

const SINCE = Date.parse('2026-11-21T02:29:00.000Z')

const record = (other: object = {}) => ({
  id: 3062991514016,
  extensionId: '629890016',
  to: [{ phoneNumber: '+16505550123', location: 'Mountain View, CA' }],
  from: { phoneNumber: '+16505550101' },
  type: 'SMS',
  creationTime: '2026-11-21T02:30:00.000Z',
  direction: 'Outbound',
  subject: 'Hello',
  messageStatus: 'SendingFailed',
  deliveryErrorCode: 'SMS-RC-413',
  conversationId: Number('1638233798595111162'),
  conversation: { id: '1638233798595111162' },
  ...other,
})

async function listedOf(records: unknown[], direction: MessageQuery['direction'] = 'Outbound'): Promise<StoredSms[]> {
  using server = httpServer(() => Response.json({ records, navigation: {} }))
  return valueOf(await clientOf(server.url).listMessages(ACCESS_TOKEN, { direction, since: SINCE }))
}

test('a record of the store is read', async () => {
  expect(await listedOf([record()])).toEqual([
    {
      providerMessageId: '3062991514016',
      direction: 'Outbound',
      from: '+16505550101',
      to: [{ phoneNumber: '+16505550123', target: false }],
      text: 'Hello',
      messageStatus: 'SendingFailed',
      deliveryErrorCode: 'SMS-RC-413',
      createdAt: Date.parse('2026-11-21T02:30:00.000Z'),
      mediaTypes: [],
      attachments: [],
    },
  ])
})

test.each<[string, unknown, (string | null)[]]>([
  ['nothing', undefined, []],
  ['an empty list', [], []],
  ['its text', [{ id: 3062991514016, type: 'Text', contentType: 'text/plain' }], []],
  ['its text, without a type', [{ id: 3062991514016, contentType: 'text/plain; charset=utf-8' }], []],
  ['what is no attachment', [null, 7, 'x'], []],
  [
    'its text and two pictures',
    [
      { id: 1, type: 'Text' },
      { id: 2, type: 'MmsAttachment', contentType: 'image/png' },
      { id: 3, type: 'MmsAttachment', contentType: 'Image/JPEG; q=1' },
    ],
    ['image/png', 'image/jpeg'],
  ],
  ['a picture alone', [{ id: 2, type: 'MmsAttachment', contentType: 'image/png' }], ['image/png']],
  ['a picture without a type', [{ id: 2, contentType: 'image/png' }], ['image/png']],
  ['a text file', [{ id: 2, type: 'MmsAttachment', contentType: 'text/plain' }], ['text/plain']],
  ['a picture that cannot be read', [{ id: 2 ** 60, type: 'MmsAttachment', contentType: 7 }], [null]],
])('a record with %s has these media', async (_, attachments, mediaTypes) => {
  expect(await listedOf([record({ attachments })])).toMatchObject([{ mediaTypes }])
})

test('the query has the type SMS, one direction and a start time, and no phone number', async () => {
  using server = httpServer(() => Response.json({ records: [] }))
  const query = { direction: 'Inbound', since: SINCE } as const
  expect(valueOf(await clientOf(server.url).listMessages(ACCESS_TOKEN, query))).toEqual([])
  expect(server.requests).toHaveLength(1)
  expect(server.requests[0]).toMatchObject({ method: 'GET', path: '/restapi/v1.0/account/~/extension/~/message-store' })
  expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({
    messageType: 'SMS',
    direction: 'Inbound',
    dateFrom: '2026-11-21T02:29:00.000Z',
    page: '1',
    perPage: '1000',
  })
})

test('all pages are read, oldest first, each message once', async () => {
  const at = (id: number, minute: number) => record({ id, creationTime: `2026-11-21T02:3${minute}:00.000Z` })
  using server = httpServer((seen) =>
    seen.query.get('page') === '1'
      ? Response.json({
          records: [at(4, 4), at(3, 3)],
          navigation: { nextPage: { uri: 'https://elsewhere.example/' } },
        })
      : Response.json({ records: [at(3, 3), at(1, 1), at(2, 2)], navigation: {} }),
  )
  const listed = valueOf(await clientOf(server.url).listMessages(ACCESS_TOKEN, { direction: 'Outbound', since: SINCE }))
  expect(listed.map((sms) => sms.providerMessageId)).toEqual(['1', '2', '3', '4'])
  expect(server.requests).toHaveLength(2)
})

test('messages of the same second are listed in the order of their arrival', async () => {
  const listed = await listedOf([3, 2, 1].map((id) => record({ id })))
  expect(listed.map((sms) => sms.providerMessageId)).toEqual(['1', '2', '3'])
})

test('records that do not match the query are left out', async () => {
  const records = [
    record({ id: 1, type: 'Fax' }),
    record({ id: 2, direction: 'Inbound' }),
    record({ id: 3, type: undefined }),
  ]
  expect((await listedOf(records)).map((sms) => sms.providerMessageId)).toEqual(['3'])
})

describe('unusual records are read', () => {
  const rows: [name: string, other: object, expected: Partial<StoredSms>][] = [
    ['no sender', { from: undefined }, { from: null }],
    ['a sender without a number', { from: { name: 'x' } }, { from: null }],
    ['a sender of the same account', { from: { extensionNumber: '102' } }, { from: '102' }],
    ['no recipients', { to: undefined }, { to: [] }],
    ['a recipient without a number', { to: [{ name: 'x' }] }, { to: [{ phoneNumber: null, target: false }] }],
    [
      'several recipients',
      { to: [{ phoneNumber: '+1650' }, { phoneNumber: '+1651', target: true }] },
      {
        to: [
          { phoneNumber: '+1650', target: false },
          { phoneNumber: '+1651', target: true },
        ],
      },
    ],
    ['no text', { subject: undefined }, { text: '' }],
    ['NUL and a lone surrogate', { subject: 'a\0b\ud800' }, { text: 'a\uFFFDb\uFFFD' }],
    ['no code', { deliveryErrorCode: undefined }, { deliveryErrorCode: null }],
    ['an invalid code', { deliveryErrorCode: '<b>SMS</b>' }, { deliveryErrorCode: null }],
    ['no status', { messageStatus: undefined }, { messageStatus: '' }],
    ['an id as text', { id: '77' }, { providerMessageId: '77' }],
    [
      'a time with an offset',
      { creationTime: '2026-11-21T03:30:00+01:00' },
      { createdAt: Date.parse('2026-11-21T02:30:00Z') },
    ],
  ]
  test.each(rows)('%s', async (_name, other, expected) => {
    expect(await listedOf([record({ direction: 'Inbound', ...other })], 'Inbound')).toMatchObject([expected])
  })
})

test('the text of an outbound message is not changed, because it is compared with the sent text', async () => {
  const subject = `a\0b${'c'.repeat(10_000)}`
  expect((await listedOf([record({ subject })]))[0]?.text).toBe(subject)
})

describe('an unreadable record makes the list unreadable', () => {
  test.each([
    { id: undefined },
    { direction: 'Sideways' },
    { creationTime: 'yesterday' },
    { creationTime: '2026-99-21T02:30:00Z' },
    { creationTime: undefined },
  ])('%j', async (other) => {
    using server = httpServer(() => Response.json({ records: [record(), record(other)] }))
    const result = await clientOf(server.url).listMessages(ACCESS_TOKEN, { direction: 'Outbound', since: SINCE })
    expect(failureOf(result)).toMatchObject({ reason: 'ambiguous', status: 200 })
  })
})

test('an endless list is a failure, not a shortened list', async () => {
  using server = httpServer(() => Response.json({ records: [record()], navigation: { nextPage: { uri: 'x' } } }))
  const result = await clientOf(server.url).listMessages(ACCESS_TOKEN, { direction: 'Outbound', since: SINCE })
  expect(failureOf(result)).toMatchObject({ reason: 'ambiguous', code: 'ERR_TOO_MANY_PAGES' })
  expect(server.requests).toHaveLength(20)
})

const ODD: readonly [string, object, string | null, string][] = [
  ['no date', { creationTime: undefined }, '3062991514016', 'creationTime'],
  ['an invalid date', { creationTime: 'yesterday' }, '3062991514016', 'creationTime'],
  ['no direction', { direction: undefined }, '3062991514016', 'direction'],
  ['an id that a double cannot represent', { id: 2 ** 60 }, null, 'id'],
  ['no id', { id: undefined }, null, 'id'],
]

test.each([...ODD])(
  'a record with %s is skipped and reported if the caller allows it, else the listing fails',
  async (_, other, id, member) => {
    const records = [record({ id: 1, direction: 'Inbound' }), record({ direction: 'Inbound', ...other })]
    using server = httpServer(() => Response.json({ records, navigation: {} }))
    const skipped: unknown[] = []
    const query = { direction: 'Inbound', since: SINCE, skipped: (one: unknown) => skipped.push(one) } as const
    const listed = valueOf(await clientOf(server.url).listMessages(ACCESS_TOKEN, query))
    expect(listed.map((sms) => sms.providerMessageId)).toEqual(['1'])
    expect(skipped).toEqual([{ providerMessageId: id, member }])
    const strict = await clientOf(server.url).listMessages(ACCESS_TOKEN, { direction: 'Inbound', since: SINCE })
    expect(failureOf(strict)).toMatchObject({ reason: 'ambiguous' })
  },
)

test('a record that is not an object is skipped, too', async () => {
  using server = httpServer(() => Response.json({ records: [null, 'x', [], record()], navigation: {} }))
  const skipped: unknown[] = []
  const query = { direction: 'Outbound', since: SINCE, skipped: (one: unknown) => skipped.push(one) } as const
  expect(valueOf(await clientOf(server.url).listMessages(ACCESS_TOKEN, query))).toHaveLength(1)
  expect(skipped).toHaveLength(3)
})
