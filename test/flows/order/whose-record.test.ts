import { describe, expect, test } from 'bun:test'
import { FROM, type World } from '../../support/world.ts'
import { FaultCase } from '../fault-table/case.ts'
import { pass } from '../fault-table/passing-time.ts'
import { contact, record } from './conversations.ts'

// A lookup concludes an attempt of unknown outcome only by the attempt's own record.

const MINUTE_MS = 60_000
const UNCONFIRMED = 'Delivery could not be confirmed with the provider'
const TO = contact(1)
const LOST = { route: 'sms', fault: { kind: 'reset' } } as const

/** Puts a record into the store that belongs to no message of the gateway. Returns its id. */
async function putRecord({ gateway, control, tenantId }: World, text: string, to = TO): Promise<string> {
  const key = { tenantId, extensionId: control.extensions()[0]?.extensionId ?? '' }
  const { extensionCalls, provider } = gateway
  const result = await extensionCalls.make(key, 'medium', (token) => provider.sendSms(token, { from: FROM, to, text }))
  if (result.type !== 'ok') throw new Error(`The record was not created: ${result.type}`)
  return result.value.providerMessageId
}

/** Sends a message whose request is lost, and waits until its outcome is unknown. */
async function sendLost(one: FaultCase, body: string, to = TO): Promise<string> {
  one.world.control.fault(LOST)
  const id = await one.world.send({ to, body })
  await pass(one, MINUTE_MS, async () => ((await outcomeOf(one, id)) === 'unknown' ? true : null))
  return id
}

async function outcomeOf({ world }: FaultCase, messageId: string): Promise<unknown> {
  const sql = 'SELECT outcome FROM send_attempts WHERE message_id = ?1 ORDER BY seq DESC LIMIT 1'
  const { rows } = await world.gateway.database.gate.execute({ sql, args: [messageId] })
  return rows[0]?.['outcome']
}

const LONG = 'A long text of which the store keeps only the beginning. '.repeat(6)

describe('a record counts as the attempt’s own', () => {
  test.each([
    ['with the same text', 'Hello', 'Hello'],
    ['with LF for CRLF', 'one\r\ntwo', 'one\ntwo'],
    ['with CRLF for LF', 'one\ntwo', 'one\r\ntwo'],
    ['with composed characters', 'Cafe\u0301', 'Café'],
    ['with decomposed characters', 'Café', 'Cafe\u0301'],
    ['with spaces for non-breaking spaces', '10\u00A0km à\u202F5', '10 km à 5'],
    ['without the blanks at its ends', '  Hello \n', 'Hello'],
    ['with the first 100 units of a long text', LONG, LONG.slice(0, 100)],
  ])('%s', async (_name, body, stored) => {
    await using one = await FaultCase.open()
    const id = await sendLost(one, body)
    const recordId = await putRecord(one.world, stored)
    expect(await one.ended(id, MINUTE_MS)).toMatchObject({ status: 'sent' })
    expect(await one.world.status(id)).toMatchObject({ rcMessageId: recordId })
    expect(await one.attempts(id)).toHaveLength(1)
    expect(record(one.world)).toEqual([stored])
  })
})

describe('a record does not count as the attempt’s own', () => {
  test.each([
    ['with another text', TO, 'Hello', 'Hello!'],
    ['with the text in another case', TO, 'Hello', 'hello'],
    ['of another conversation', contact(2), 'Hello', 'Hello'],
    ['with the first 99 units of a long text', TO, LONG, LONG.slice(0, 99)],
    ['with the beginning of a short text', TO, 'Hello', 'Hell'],
  ])('%s', async (_name, to, body, stored) => {
    await using one = await FaultCase.open()
    const id = await sendLost(one, body)
    const recordId = await putRecord(one.world, stored, to)
    expect(await one.ended(id, 2 * MINUTE_MS)).toMatchObject({ status: 'sent' })
    expect((await one.world.status(id))['rcMessageId']).not.toBe(recordId)
    expect(await one.attempts(id)).toHaveLength(2)
    expect(record(one.world)).toEqual([stored, body])
  })

  test('if it was created before the attempt began', async () => {
    await using one = await FaultCase.open()
    const byHand = await putRecord(one.world, 'Hello')
    one.clock.advance(10_000)
    const id = await sendLost(one, 'Hello')
    expect(await one.ended(id, 2 * MINUTE_MS)).toMatchObject({ status: 'sent' })
    expect((await one.world.status(id))['rcMessageId']).not.toBe(byHand)
    expect(record(one.world)).toEqual(['Hello', 'Hello'])
  })

  test('if it belongs to another message', async () => {
    await using one = await FaultCase.open()
    const first = await one.world.send({ to: TO, body: 'Hello' })
    expect(await one.ended(first, MINUTE_MS)).toMatchObject({ status: 'sent' })
    const second = await sendLost(one, 'Hello')
    expect(await one.ended(second, 2 * MINUTE_MS)).toMatchObject({ status: 'sent' })
    const { rcMessageId } = await one.world.status(first)
    expect((await one.world.status(second))['rcMessageId']).not.toBe(rcMessageId)
    expect(record(one.world)).toEqual(['Hello', 'Hello'])
  })
})

describe('with the same words and numbers', () => {
  const text = { id: 1, type: 'Text', contentType: 'text/plain' }
  const picture = { id: 2, type: 'MmsAttachment', contentType: 'image/png' }
  const others = [
    ['a picture with a text', { attachments: [text, picture] }],
    ['a picture whose text is the subject alone', { attachments: [picture] }],
    ['a group text', { to: [{ phoneNumber: TO }, { phoneNumber: contact(2) }] }],
    ['a group text with the contact last', { to: [{ phoneNumber: contact(2) }, { phoneNumber: TO }] }],
  ] as const

  /** Lists one record for a message whose request was lost. Returns its end, and whether it took the record. */
  async function takesRecord(change: object): Promise<{ took: boolean; phone: unknown }> {
    await using one = await FaultCase.open()
    const { world, clock } = one
    const id = await sendLost(one, 'Hello')
    const listed = {
      id: 99,
      type: 'SMS',
      direction: 'Outbound',
      from: { phoneNumber: FROM },
      to: [{ phoneNumber: TO }],
      subject: 'Hello',
      messageStatus: 'Sent',
      creationTime: new Date(clock.now()).toISOString(),
      attachments: [text],
      ...change,
    }
    const answer = { kind: 'respond', status: 200, body: { records: [listed] } } as const
    world.control.fault({ route: 'message-store', calls: null, fault: answer })
    expect(await one.ended(id, 2 * MINUTE_MS)).toMatchObject({ status: 'sent' })
    return { took: (await world.status(id))['rcMessageId'] === '99', phone: record(world) }
  }

  test.each(others)('%s, sent by hand, does not count as the attempt’s own', async (_name, change) => {
    expect(await takesRecord(change)).toEqual({ took: false, phone: ['Hello'] })
  })

  test('a text alone counts', async () => {
    expect(await takesRecord({})).toEqual({ took: true, phone: [] })
  })
})

/** Adds an unreadable record to listings of outbound messages. */
function addOddRecord({ gateway }: World): () => void {
  const { provider } = gateway
  const list = provider.listMessages
  provider.listMessages = (token, query) => {
    if (query.direction === 'Outbound') query.skipped?.({ providerMessageId: null, member: 'creationTime' })
    return list(token, query)
  }
  return () => void (provider.listMessages = list)
}

test('an unreadable record keeps a lookup from concluding absence, but not from finding records', async () => {
  await using one = await FaultCase.open()
  const { world, clock } = one
  const removeOdd = addOddRecord(world)
  const lost = await sendLost(one, 'Lost')
  const there = await sendLost(one, 'There', contact(2))
  await putRecord(world, 'There', contact(2))
  expect(await one.ended(there, MINUTE_MS)).toMatchObject({ status: 'sent' })
  const until = clock.now() + 5 * MINUTE_MS
  await pass(one, 6 * MINUTE_MS, () => (clock.now() >= until ? true : null), 5000)
  expect(await world.status(lost)).toMatchObject({ status: 'sending' })
  expect(record(world)).toEqual(['There'])
  removeOdd()
  expect(await one.ended(lost, MINUTE_MS)).toMatchObject({ status: 'sent' })
  expect(record(world)).toEqual(['There', 'Lost'])
})

describe.each([404, 500, 503])('a message store that answers %i', (status) => {
  const broken = { route: 'message-store', calls: null, fault: { kind: 'respond', status } } as const

  test('is queried for ten minutes, then the message fails', async () => {
    await using one = await FaultCase.open()
    one.world.control.fault(broken)
    const id = await sendLost(one, 'Hello')
    const { status: end, error, tookMs } = await one.ended(id, 15 * MINUTE_MS, 5000)
    expect({ end, error }).toEqual({ end: 'failed', error: UNCONFIRMED })
    expect(tookMs).toBeGreaterThanOrEqual(9 * MINUTE_MS)
    expect(tookMs).toBeLessThanOrEqual(11 * MINUTE_MS)
    expect(record(one.world)).toEqual([])
  })

  test('concludes the lookup as soon as it answers again', async () => {
    await using one = await FaultCase.open()
    const { world, clock } = one
    world.control.fault(broken)
    const id = await sendLost(one, 'Hello')
    const until = clock.now() + 5 * MINUTE_MS
    await pass(one, 6 * MINUTE_MS, () => (clock.now() >= until ? true : null), 5000)
    expect(await world.status(id)).toMatchObject({ status: 'sending' })
    world.control.clearFaults()
    expect(await one.ended(id, MINUTE_MS)).toMatchObject({ status: 'sent' })
    expect(record(world)).toEqual(['Hello'])
  })
})

test('a message fails after five attempts that were found absent', async () => {
  await using one = await FaultCase.open()
  one.world.control.fault({ ...LOST, calls: null })
  const id = await one.world.send({ to: TO })
  expect(await one.ended(id, 10 * MINUTE_MS)).toMatchObject({ status: 'failed', error: UNCONFIRMED })
  expect(await one.attempts(id)).toHaveLength(5)
})

test.each([
  [500, 3000, 29_000],
  [502, 30_000, 60_000],
  [504, 30_000, 60_000],
])('after a %i the next attempt begins at least %i ms and at most %i ms later', async (status, atLeast, atMost) => {
  await using one = await FaultCase.open()
  one.world.control.fault({ route: 'sms', fault: { kind: 'respond', status } })
  const id = await one.world.send({ to: TO })
  expect(await one.ended(id, 2 * MINUTE_MS)).toMatchObject({ status: 'sent' })
  const [first = NaN, second = NaN] = await one.attempts(id)
  expect(second - first).toBeGreaterThanOrEqual(atLeast)
  expect(second - first).toBeLessThanOrEqual(atMost)
})
