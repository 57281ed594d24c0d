import { describe, expect, test } from 'bun:test'
import { parseInboundEvent } from '../../../src/provider/ringcentral/inbound-event.ts'
import type { InboundEvent } from '../../../src/provider/provider.ts'

const SUBSCRIPTION = '7e4a7486-8df9-4195-8aef-b8d81d3345f6'
const EVENT = '/restapi/v1.0/account/809640016/extension/629890016/message-store/instant?type=SMS'

/** The sample of an inbound SMS (RingCentral developer guide, "Instant SMS event"), with fictitious numbers. */
const message = (other: object = {}) => ({
  id: '3062991599016',
  to: [{ phoneNumber: '+16505550101', name: 'Alice Smith', location: 'Mountain View, CA', target: true }],
  from: {
    phoneNumber: '+16505550123',
    location: 'Mountain View, CA',
    phoneNumberInfo: { countryCode: '1', nationalDestinationCode: '650', subscriberNumber: '5550123' },
  },
  type: 'SMS',
  creationTime: '2026-11-21T02:31:45.028Z',
  readStatus: 'Unread',
  attachments: [{ id: '3062991599016', type: 'Text', contentType: 'text/plain' }],
  direction: 'Inbound',
  availability: 'Alive',
  subject: 'Hi, I would like to …',
  messageStatus: 'Received',
  conversation: { id: '1638233798595111162' },
  eventType: 'Create',
  owner: { extensionId: '629890016', extensionType: 'User', name: 'Alice Smith' },
  ...other,
})

const event = (body: unknown = message(), other: object = {}) => ({
  uuid: '6242343638330007102',
  event: EVENT,
  timestamp: '2026-11-21T02:31:45.034Z',
  subscriptionId: SUBSCRIPTION,
  ownerId: '629890016',
  body,
  ...other,
})

const SMS = {
  providerMessageId: '3062991599016',
  from: '+16505550123',
  to: [{ phoneNumber: '+16505550101', target: true }],
  text: 'Hi, I would like to …',
  createdAt: Date.parse('2026-11-21T02:31:45.028Z'),
  attachments: [],
}
const recipient = (phoneNumber: string | null, target = false) => ({ phoneNumber, target })
const expected = (sms: object = {}, other: object = {}): unknown => ({
  kind: 'sms',
  subscriptionId: SUBSCRIPTION,
  ownerId: '629890016',
  sms: { ...SMS, ...sms },
  ...other,
})

test('an inbound SMS is read', () => {
  expect(parseInboundEvent(event()) as unknown).toEqual(expected())
})

describe('the kind of an event string', () => {
  const rows: [string, InboundEvent['kind']][] = [
    ['/restapi/v1.0/account/~/extension/629890016/message-store/instant?type=SMS', 'sms'],
    ['/restapi/v1.0/account/~/extension/~/message-store/instant?type=SMS', 'sms'],
    [`${EVENT}&direction=Inbound`, 'sms'],
    ['/restapi/v1.0/account/1/extension/2/message-store/instant?direction=Inbound&type=SMS', 'sms'],
    ['/restapi/v1.0/account/1/extension/2/message-store/instant?type=Fax', 'ignored'],
    ['/restapi/v1.0/account/1/extension/2/message-store/instant?type=SMSX', 'ignored'],
    ['/restapi/v1.0/account/1/extension/2/message-store/instant?subtype=SMS', 'ignored'],
    ['/restapi/v1.0/account/1/extension/2/message-store/instant', 'ignored'],
    ['/restapi/v1.0/account/1/extension/2/message-store/instantly?type=SMS', 'ignored'],
    ['/restapi/v1.0/account/1/extension/2/message-store?type=SMS', 'ignored'],
    ['', 'ignored'],
  ]
  test.each(rows)('%j is %s', (name, kind) => {
    expect(parseInboundEvent(event(message(), { event: name })).kind).toBe(kind)
  })
})

describe('forms of an inbound SMS', () => {
  const rows: [name: string, body: object, sms: object][] = [
    ['the id as a number', message({ id: 3062991599016 }), {}],
    [
      'conversationId instead of conversation',
      message({ conversation: undefined, conversationId: Number('1638233798595111162') }),
      {},
    ],
    ['no event type', message({ eventType: undefined }), {}],
    ['an event type of null', message({ eventType: null }), {}],
    ['of a call queue', message({ owner: { extensionId: '700', extensionType: 'Department' } }), {}],
    [
      'an MMS with text',
      message({ attachments: [{ type: 'MmsAttachment', uri: 'https://media.ringcentral.com/x', size: 461020 }] }),
      {},
    ],
    ['an MMS without text', message({ subject: undefined }), { text: '' }],
    ['an empty subject', message({ subject: '' }), { text: '' }],
    ['a subject of null', message({ subject: null }), { text: '' }],
    ['a subject of another type', message({ subject: { a: 1 } }), { text: '' }],
    ['NUL characters', message({ subject: 'a\0b\0' }), { text: 'a\uFFFDb\uFFFD' }],
    ['lone surrogates', message({ subject: '\ud83dx\ude00' }), { text: '\uFFFDx\uFFFD' }],
    ['line breaks and spaces are kept', message({ subject: ' a\r\nb\t' }), { text: ' a\r\nb\t' }],
    ['10,000 units', message({ subject: 'x'.repeat(10_000) }), { text: 'x'.repeat(10_000) }],
    ['10,001 units', message({ subject: 'x'.repeat(10_001) }), { text: 'x'.repeat(10_000) }],
    ['a surrogate pair at the limit', message({ subject: `${'x'.repeat(9999)}😀` }), { text: 'x'.repeat(9999) }],
    [
      'a surrogate pair within the limit',
      message({ subject: `${'x'.repeat(9998)}😀y` }),
      { text: `${'x'.repeat(9998)}😀` },
    ],
    [
      'a lone surrogate at the limit',
      message({ subject: `${'x'.repeat(9999)}\ud83dy` }),
      { text: `${'x'.repeat(9999)}\uFFFD` },
    ],
    ['from another extension', message({ from: { extensionNumber: '102', name: 'Bob' } }), { from: '102' }],
    ['an extension number as a number', message({ from: { extensionNumber: 102 } }), { from: '102' }],
    ['from nobody', message({ from: { name: 'Unknown' } }), { from: null }],
    ['an empty sender number', message({ from: { phoneNumber: ' ' } }), { from: null }],
    ['no sender', message({ from: undefined }), { from: null }],
    ['a sender of another type', message({ from: '+16505550123' }), { from: null }],
    ['a short code', message({ from: { phoneNumber: '72345' } }), { from: '72345' }],
    ['a number of 100 characters', message({ from: { phoneNumber: '1'.repeat(100) } }), { from: '1'.repeat(64) }],
    ['NUL in a number', message({ from: { phoneNumber: '+1\x00650' } }), { from: '+1\uFFFD650' }],
    [
      'a group: all of it, with the target',
      message({
        to: [
          { phoneNumber: '+16505550199' },
          { phoneNumber: '+16505550198', target: false },
          { extensionNumber: '101', target: true },
        ],
      }),
      { to: [recipient('+16505550199'), recipient('+16505550198'), recipient('101', true)] },
    ],
    [
      'a group without target',
      message({ to: [{ name: 'x' }, { phoneNumber: '+16505550199', target: 'true' }] }),
      { to: [recipient(null), recipient('+16505550199')] },
    ],
    ['a target without a number', message({ to: [{ target: true }] }), { to: [recipient(null, true)] }],
    [
      'recipients of another type',
      message({ to: ['x', null, { phoneNumber: '+16505550101' }] }),
      { to: [recipient(null), recipient(null), recipient('+16505550101')] },
    ],
    ['no recipient', message({ to: [] }), { to: [] }],
    ['recipients missing', message({ to: undefined }), { to: [] }],
  ]
  test.each(rows)('%s', (_name, body, sms) => {
    expect(parseInboundEvent(event(body)) as unknown).toEqual(expected(sms))
  })

  test('of many recipients, a hundred are read', () => {
    const unread = {
      get phoneNumber(): never {
        throw new Error('this recipient was read')
      },
    }
    const to = [{ phoneNumber: '+16505550101', target: true }, ...Array.from({ length: 99 }, () => ({})), unread]
    const read = [recipient('+16505550101', true), ...Array.from({ length: 99 }, () => recipient(null))]
    expect(parseInboundEvent(event({ ...message(), to })) as unknown).toEqual(expected({ to: read }))
  })

  test('envelope ids may be numbers', () => {
    const parsed = parseInboundEvent(event(message(), { subscriptionId: 42, ownerId: 629890016 }))
    expect(parsed as unknown).toEqual(expected({}, { subscriptionId: '42' }))
  })

  test.each([undefined, null, '', 'a b', {}, 1.5])('the subscription id %p counts as absent', (subscriptionId) => {
    expect(parseInboundEvent(event(message(), { subscriptionId })) as unknown).toEqual(
      expected({}, { subscriptionId: null }),
    )
  })

  test('an event without any owner is read without one', () => {
    const parsed = parseInboundEvent(event(message(), { ownerId: undefined, event: EVENT.replace('629890016', '~') }))
    expect(parsed as unknown).toEqual(expected({}, { ownerId: null }))
  })

  test('without an owner in the envelope, the extension of the event counts', () => {
    expect(parseInboundEvent(event(message(), { ownerId: undefined })) as unknown).toEqual(expected())
  })
})

describe('ignored events', () => {
  const changes = {
    accountId: 809640016,
    extensionId: 629890016,
    changes: [{ type: 'SMS', newCount: 1, newMessageIds: [3062991599016] }],
  }
  const rows: [name: string, body: unknown, why: string][] = [
    [
      'a change of the message store',
      event(changes, { event: '/restapi/v1.0/account/809640016/extension/629890016/message-store' }),
      'the event is not an instant SMS',
    ],
    [
      'a renewal reminder',
      event({ expiresIn: 259100 }, { event: '/restapi/v1.0/subscription/~?threshold=259200&interval=43200' }),
      'the event is not an instant SMS',
    ],
    ['an event of another type', event(message(), { event: 7 }), 'the event is not an instant SMS'],
    ['an outbound message', event(message({ direction: 'Outbound' })), 'the message is not inbound'],
    ['a message without direction', event(message({ direction: undefined })), 'the message is not inbound'],
    ['a fax', event(message({ type: 'Fax' })), 'the message is not an SMS'],
    ['an update', event(message({ eventType: 'Update' })), 'the event is not about a new message'],
    ['no body', event(null), 'the event carries no readable message'],
    ['a body of text', event('x'), 'the event carries no readable message'],
    ['a message without id', event(message({ id: undefined })), 'the event carries no readable message'],
    ['a message with an empty id', event(message({ id: '' })), 'the event carries no readable message'],
    ['an id that a double cannot represent', event(message({ id: 2 ** 60 })), 'the event carries no readable message'],
  ]
  test.each(rows)('%s', (_name, body, why) => {
    expect(parseInboundEvent(body)).toEqual({ kind: 'ignored', subscriptionId: SUBSCRIPTION, why })
  })
})

test.each([
  ['the path', '/message-store/instant?'],
  ['the path and a type', '/message-store/instant?type=Fax&'],
  ['an extension', '/extension/11111111111111111111111111111111'],
  ['a part of the path', '/message-store/instant'],
])('an event that repeats %s is read in time that grows with its length alone', (_, part) => {
  // A pattern that takes quadratic time needs minutes for this, far more than the time limit of a test.
  const repeated = part.repeat(Math.ceil(2_000_000 / part.length))
  for (const name of [repeated, `${repeated}\n`, `\n${repeated}`])
    expect(parseInboundEvent(event(message(), { event: name })).kind).toBe('ignored')
})

describe('no input makes the parser throw', () => {
  const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`)
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error('no')
      },
    },
  )
  const circular: Record<string, unknown> = event()
  circular['body'] = circular
  const rows: unknown[] = [
    undefined,
    null,
    true,
    0,
    NaN,
    1n,
    '',
    'x',
    [],
    [event()],
    {},
    { event: EVENT },
    Symbol('x'),
    () => event(),
    new Date(),
    deep,
    circular,
    hostile,
    new Map([['event', EVENT]]),
    JSON.parse('{"__proto__":{"event":"x"}}'),
    event(hostile),
    event(deep),
    event({ ...message(), from: hostile }),
  ]
  for (const [index, body] of rows.entries()) {
    test(`row ${index}`, () => {
      expect(parseInboundEvent(body).kind).toBe('ignored')
    })
  }
})
