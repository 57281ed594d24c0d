import { describe, expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
import { ACCOUNT, EXTENSION, inboundMessages, postEvent, smsEvent, subscribe } from '../../support/provider-events.ts'
import { listenTo } from '../../support/socket.ts'
import { FROM, FROM_2, createWorld } from '../../support/world.ts'

const OLD = {
  uuid: crypto.randomUUID(),
  event: `/restapi/v1.0/account/~/extension/${EXTENSION}/message-store/instant?type=SMS`,
}
const target = (phoneNumber: string): object => ({ phoneNumber, target: true })

describe('stored as a message', () => {
  const shapes: [string, Record<string, unknown>, object][] = [
    [
      "today's form",
      smsEvent(),
      { rcMessageId: '3062991599016', from: '+15555550123', to: FROM, body: 'Hi', receivingExtensionId: EXTENSION },
    ],
    [
      'the old form: `~`, a GUID, a number as id, conversationId',
      smsEvent({ id: 3062991599017, conversationId: 1638233798595111 }, OLD),
      { rcMessageId: '3062991599017', body: 'Hi' },
    ],
    [
      'the owner as a number',
      smsEvent({}, { ownerId: Number(EXTENSION), subscriptionId: 42 }),
      { receivingExtensionId: EXTENSION },
    ],
    [
      'no ids in the envelope',
      smsEvent({}, { ownerId: undefined, subscriptionId: undefined, uuid: undefined }),
      { receivingExtensionId: EXTENSION },
    ],
    [
      'more parameters in the filter',
      smsEvent(
        {},
        { event: `/restapi/v1.0/account/${ACCOUNT}/extension/~/message-store/instant?direction=Inbound&type=SMS` },
      ),
      { body: 'Hi' },
    ],
    [
      'a filter with its type encoded',
      smsEvent({}, { event: `/restapi/v1.0/account/${ACCOUNT}/extension/~/message-store/instant?type=%53MS` }),
      { body: 'Hi' },
    ],
    [
      'several recipients: the own number',
      smsEvent({ to: [{ phoneNumber: '+15555550150' }, target(FROM_2), { phoneNumber: '+15555550151' }] }),
      { to: FROM_2 },
    ],
    [
      'several recipients, none marked, of which the gateway knows none',
      smsEvent({ to: [{ phoneNumber: '+15555550150' }, { phoneNumber: FROM }] }),
      { to: 'unknown' },
    ],
    ['no recipient', smsEvent({ to: [] }), { to: 'unknown' }],
    ['`to` that is no list', smsEvent({ to: { phoneNumber: FROM } }), { to: 'unknown' }],
    [
      'MMS with text',
      smsEvent({
        attachments: [
          { id: '1', type: 'Text' },
          { id: '2', type: 'MmsAttachment', contentType: 'image/jpeg' },
        ],
      }),
      { body: 'Hi' },
    ],
    [
      'MMS without text',
      smsEvent({ subject: undefined, attachments: [{ id: '2', type: 'MmsAttachment' }] }),
      { body: '' },
    ],
    ['empty text', smsEvent({ subject: '' }), { body: '' }],
    ['a text of another type', smsEvent({ subject: 7 }), { body: '' }],
    ['NUL and a lone surrogate', smsEvent({ subject: 'a\u0000b\ud800c' }), { body: 'a\ufffdb\ufffdc' }],
    ['a long text', smsEvent({ subject: 'é'.repeat(4000) }), { body: 'é'.repeat(4000) }],
    ['an extension as sender', smsEvent({ from: { extensionNumber: '101', name: 'Bob' } }), { from: '101' }],
    ['no sender', smsEvent({ from: undefined }), { from: 'anonymous' }],
    ['no event type', smsEvent({ eventType: undefined }), { body: 'Hi' }],
    [
      'a call queue as owner of the number',
      smsEvent({ owner: { extensionId: '5550', extensionType: 'Department' } }),
      { receivingExtensionId: EXTENSION },
    ],
  ]
  test.each(shapes)('%s', async (_name, event, expected) => {
    await using world = await createWorld({ connect: false })
    const token = await subscribe(world)
    const answer = await postEvent(world, token, event)
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    const { messages } = await inboundMessages(world)
    expect(messages).toMatchObject([
      { ...expected, direction: 'inbound', status: 'received', userId: null, appId: world.app.appId },
    ])
  })
})

describe('answered 200 and ignored', () => {
  const events: [string, unknown][] = [
    [
      'a message-store change',
      smsEvent({}, { event: `/restapi/v1.0/account/${ACCOUNT}/extension/${EXTENSION}/message-store` }),
    ],
    [
      'a reminder',
      {
        uuid: '1',
        event: '/restapi/v1.0/subscription/~?threshold=259200&interval=43200',
        subscriptionId: 's',
        ownerId: EXTENSION,
        body: { expiresIn: 259100 },
      },
    ],
    ['presence', smsEvent({}, { event: `/restapi/v1.0/account/${ACCOUNT}/extension/${EXTENSION}/presence` })],
    ['an outbound message', smsEvent({ direction: 'Outbound' })],
    ['a fax', smsEvent({ type: 'Fax' })],
    ['a message that was changed', smsEvent({ eventType: 'Update' })],
    ['a message without id', smsEvent({ id: undefined })],
    ...[null, true, 1.5, 2 ** 53, '', 'a b', 'x'.repeat(129), ['1'], { id: '1' }].map((id): [string, object] => [
      `a message whose id is ${JSON.stringify(id).slice(0, 20)}`,
      smsEvent({ id }),
    ]),
    ['a filter of another type', smsEvent({}, { event: '/message-store/instant?type=SMSX&xtype=SMS&type' })],
    ['no event', smsEvent({}, { event: undefined })],
    ['no body', smsEvent({}, { body: null })],
    ['an empty object', {}],
    ['a list', []],
    ['null', null],
    ['a text', '"hello"'],
    ['a number', '7'],
    ['nothing at all', ''],
  ]
  test.each(events)('%s', async (_name, event) => {
    await using world = await createWorld({ connect: false })
    const token = await subscribe(world)
    const answer = await postEvent(world, token, event)
    expect([answer.status, await answer.text()]).toEqual([200, ''])
    const { rows } = await world.gateway.database.gate.execute(
      'SELECT (SELECT count(*) FROM messages) + (SELECT count(*) FROM jobs) AS n',
    )
    expect(rows[0]?.['n']).toBe(0)
  })
})

// A single pattern with two wildcards would take half a second for each of these events.
test('long events that are crafted to be slow to parse delay no other event', async () => {
  await using world = await createWorld({ connect: false })
  const token = await subscribe(world)
  const paths = ['/message-store/instant?'.repeat(4000), '/message-store/instant?&'.repeat(4000)]
  for (let round = 0; round < 30; round++) {
    for (const event of paths) expect((await postEvent(world, token, smsEvent({}, { event }))).status).toBe(200)
  }
  expect((await inboundMessages(world)).messages).toEqual([])
}, 15_000)

test('events are accepted with header names in any case and any content type', async () => {
  await using world = await createWorld({ connect: false })
  const token = await subscribe(world)
  const headers = { 'VERIFICATION-TOKEN': token, 'content-type': 'text/plain' }
  expect((await postEvent(world, null, smsEvent(), headers)).status).toBe(200)
  expect((await inboundMessages(world)).total).toBe(1)
})

test("the simulator's events of every form are stored: old, group, MMS, from an extension", async () => {
  await using world = await createWorld()
  await world.control.injectSms({ text: 'old', form: 'old' })
  await world.control.injectSms({ text: 'group', to: ['+15555550150', FROM_2] })
  await world.control.injectSms({ text: null, attachments: [{ contentType: 'image/jpeg' }] })
  await world.control.injectSms({ text: 'inside', fromExtensionNumber: '102' })
  const { messages } = await inboundMessages(world)
  expect(messages.map(({ body, to, from }) => [body, to, from])).toEqual([
    ['inside', FROM, '102'],
    ['', FROM, '+16505550123'],
    ['group', FROM_2, '+16505550123'],
    ['old', FROM, '+16505550123'],
  ])
})

test('an inbound message belongs to the app that last wrote to its contact from that number, else to the oldest app', async () => {
  await using world = await createWorld()
  const second = await world.secondApp()
  const contact = '+15555550177'
  await world.send({ to: contact }, { key: second.apiKey })
  await world.send({ to: contact, from: FROM_2 })
  await world.control.injectSms({ from: contact, to: FROM, text: 'a reply' })
  await world.control.injectSms({ from: '+15555550178', to: FROM, text: 'without an earlier message' })
  const { messages } = await inboundMessages(world)
  expect(messages.map(({ body, appId }) => [body, appId])).toEqual([
    ['without an earlier message', world.app.appId],
    ['a reply', second.appId],
  ])
})

test('an event that could not be stored is not answered with 200 and not published, and is stored when it is repeated', async () => {
  await using world = await createWorld()
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const token = await subscribe(world)
  await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: 'https://hooks.example.com/' } })
  const { gate } = world.gateway.database
  await gate.execute(
    "CREATE TRIGGER broken BEFORE INSERT ON jobs WHEN NEW.kind = 'webhook' BEGIN SELECT RAISE(ABORT, 'broken'); END",
  )
  await expectError(await postEvent(world, token, smsEvent()), 500, 'Internal server error')
  expect((await inboundMessages(world)).total).toBe(0)
  await gate.execute('DROP TRIGGER broken')
  expect((await postEvent(world, token, smsEvent({ subject: 'again' }))).status).toBe(200)
  expect((await socket.received(2))[1]).toMatchObject({ type: 'sms_inbound', body: 'again' })
})
