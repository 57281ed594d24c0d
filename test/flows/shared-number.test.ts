import { describe, expect, test } from 'bun:test'
import { diagnose } from '../../src/operator/doctor/diagnose.ts'
import { FROM, TO, type World } from '../support/world.ts'
import { record, sendEach, texts, untilSent } from './order/conversations.ts'
import { FaultCase } from './fault-table/case.ts'
import { pass } from './fault-table/passing-time.ts'

// The number of a call queue is in the lists of both extensions of the tenant. `first` sends for it.

const MINUTE_MS = 60_000
const QUEUE = '+15555550150'
const OTHER = '+15555550198'
const UNCONFIRMED = 'Delivery could not be confirmed with the provider'
const LOST = { route: 'sms', fault: { kind: 'accept-then-respond', status: 502 } } as const
const DROPPED = { route: 'sms', fault: { kind: 'respond', status: 502 } } as const

interface Shared extends AsyncDisposable {
  one: FaultCase
  world: World
  first: string
  second: string
}

/** Bob is connected after Alice, and has a lower id: the order of connecting does not decide who sends. */
async function openShared(): Promise<Shared> {
  const one = await FaultCase.open()
  const { world } = one
  const [alice] = world.control.extensions()
  const second = alice?.extensionId ?? ''
  const { extensionId: first } = world.control.addExtension({ extensionId: '529890016', name: 'Bob', numbers: [] })
  world.control.addQueue({ numbers: [QUEUE], recipients: [first, second] })
  expect((await world.connect({ extensionId: first })).status).toBe(200)
  await read(world, second)
  await pass(one, 2 * MINUTE_MS, () => (world.control.subscriptions().length === 2 ? true : null))
  return { one, world, first, second, [Symbol.asyncDispose]: () => one[Symbol.asyncDispose]() }
}

const read = ({ gateway, tenantId }: World, extensionId: string) => gateway.numbers.read({ tenantId, extensionId })

const sendsOf = ({ control }: World, extensionId: string): number[] =>
  control.requests({ route: 'sms', extensionId }).map(({ status }) => status ?? 0)

async function rowsOf({ gateway }: World): Promise<unknown[]> {
  const sql = 'SELECT extension_id, owner_id, shown_at > 0 AS shown FROM phone_numbers WHERE number = ?1 ORDER BY 1'
  return (await gateway.database.gate.execute({ sql, args: [QUEUE] })).rows.map((row) => Object.values(row))
}

const untilShown = ({ one, world, first }: Shared): Promise<true> =>
  pass(one, 2 * MINUTE_MS, async () => ((await rowsOf(world)).some((row) => isShown(row, first)) ? true : null))

const isShown = (row: unknown, extensionId: string): boolean =>
  Array.isArray(row) && row[0] === extensionId && row[2] === 1

describe('a number of a call queue in the lists of two extensions', () => {
  test('stays in both lists, sends by one of them, and keeps what is known of it, however often the lists are read', async () => {
    await using shared = await openShared()
    const { one, world, first, second } = shared
    const queue = world.control.extensions().find(({ type }) => type === 'Department')?.extensionId
    await one.ended(await world.send({ from: QUEUE }), MINUTE_MS)
    await untilShown(shared)
    expect((await rowsOf(world)).map((row) => isShown(row, second))).toEqual([false, false])
    for (const extensionId of [second, first, second, second, first]) {
      await read(world, extensionId)
      expect((await rowsOf(world)).map((row) => (row as unknown[]).slice(0, 2))).toEqual([
        [first, queue],
        [second, queue],
      ])
      const { body } = await world.json<{ extensions: Listed[] }>('GET', '/v1/rc/extensions')
      expect(body.extensions.map(({ phoneNumbers }) => phoneNumbers.filter((number) => number === QUEUE))).toEqual([
        [QUEUE],
        [QUEUE],
      ])
      await one.ended(await world.send({ from: QUEUE }), 2 * MINUTE_MS)
      expect((await rowsOf(world)).some((row) => isShown(row, first))).toBe(true)
    }
    expect([sendsOf(world, first).length, sendsOf(world, second).length]).toEqual([6, 0])
    const doctor = (await diagnose(world.gateway)).find(({ check }) => check === 'numbers')
    expect(doctor).toMatchObject({
      level: 'ok',
      detail: '3 that can send; campaign: LowVolume, 6,000 texts a day over all its numbers',
    })
    const { body } = await world.json<{ extensions: { numbers: { phoneNumber: string }[] }[] }>(
      'GET',
      '/v1/rc/extensions/health',
    )
    const numbers = body.extensions.map((each) => each.numbers.map(({ phoneNumber }) => phoneNumber))
    expect(numbers.toSorted((a, b) => a.length - b.length)).toMatchObject([[QUEUE], [FROM, expect.anything(), QUEUE]])
  })

  test('a message that was never accepted is sent again, although the other list was read last', async () => {
    await using shared = await openShared()
    const { one, world, second } = shared
    await one.ended(await world.send({ from: QUEUE, body: 'First' }), MINUTE_MS)
    await untilShown(shared)
    world.control.fault(DROPPED)
    const id = await world.send({ from: QUEUE })
    await pass(one, MINUTE_MS, () => (world.control.requests({ route: 'sms' }).length === 2 ? true : null))
    await read(world, second)
    expect(await one.ended(id, 12 * MINUTE_MS)).toMatchObject({ status: 'sent' })
    expect(one.atProvider).toBe(2)
  })

  test('a text to the queue is stored once, although both get its event, and posted once', async () => {
    await using shared = await openShared()
    const { one, world } = shared
    const injected = await world.control.injectSms({ from: TO, to: QUEUE, text: 'To the queue' })
    expect(injected.deliveries.map(({ status }) => status)).toEqual([200, 200])
    world.control.clearRequests()
    await pass(one, 40 * MINUTE_MS, () => {
      const lists = world.control.requests({ route: 'message-store' })
      return new Set(lists.map(({ extensionId }) => extensionId)).size === 2 ? true : null
    })
    const { body } = await world.json<{ total: number }>('GET', '/v1/sms/messages?direction=inbound')
    expect(body.total).toBe(1)
    expect((await world.gateway.database.gate.execute('SELECT 1 FROM events')).rows).toHaveLength(1)
  })
})

interface Listed {
  extensionId: string
  phoneNumbers: string[]
}

describe('when the extension that sends is revoked, its messages', () => {
  test('go out by the other one, in order', async () => {
    await using shared = await openShared()
    const { one, world, first, second } = shared
    world.control.revokeTokens({ extensionId: first })
    await sendEach(world, texts(5), undefined, QUEUE)
    await untilSent(one, 5, 2 * MINUTE_MS)
    expect(record(world)).toEqual(texts(5))
    expect(sendsOf(world, second)).toEqual([200, 200, 200, 200, 200])
  })

  test('are found by the other one if their answer was lost: one copy, and the next text of the conversation after it', async () => {
    await using shared = await openShared()
    const { one, world, first, second } = shared
    const id = await lostThenRevoked(shared)
    const next = await world.send({ from: QUEUE, body: 'Next' })
    expect(await one.ended(await world.send({ from: QUEUE, to: OTHER }), MINUTE_MS)).toMatchObject({ status: 'sent' })
    expect(await one.ended(id, 5 * MINUTE_MS)).toMatchObject({ status: 'sent' })
    expect(await one.ended(next, MINUTE_MS)).toMatchObject({ status: 'sent' })
    const toContact = world.control.messages({ direction: 'Outbound' }).filter(({ to }) => to.includes(TO))
    expect(toContact.map(({ text }) => text)).toEqual(['Lost', 'Next'])
    expect([sendsOf(world, first).length, sendsOf(world, second).length]).toEqual([1, 2])
  })

  test.each(['refused', 'ignored'] as const)(
    'end as unconfirmed if their answer was lost where `owner` is %s: one copy',
    async (sharedOwner) => {
      await using shared = await openShared()
      const { one, world } = shared
      world.control.configure({ sharedOwner })
      const id = await lostThenRevoked(shared)
      expect(await one.ended(id, 12 * MINUTE_MS)).toMatchObject({ status: 'failed', error: UNCONFIRMED })
      expect(one.atProvider).toBe(1)
    },
  )

  test('end as unconfirmed if they were never accepted: what the other one does not show was not sent by the other one alone', async () => {
    await using shared = await openShared()
    const { one, world, second } = shared
    await one.ended(await world.send({ from: QUEUE, body: 'First' }), MINUTE_MS)
    await untilShown(shared)
    const id = await lostThenRevoked(shared, DROPPED)
    expect(await one.ended(id, 12 * MINUTE_MS)).toMatchObject({ status: 'failed', error: UNCONFIRMED })
    expect([one.atProvider, sendsOf(world, second).length]).toEqual([1, 0])
  })
})

/** Sends a text whose answer is lost, and ends the session of the extension before it is looked up. */
async function lostThenRevoked({ one, world, first }: Shared, fault: typeof LOST | typeof DROPPED = LOST) {
  world.control.fault(fault)
  const before = sendsOf(world, first).length
  const id = await world.send({ from: QUEUE, body: 'Lost' })
  await pass(one, MINUTE_MS, () => (sendsOf(world, first).length > before ? true : null), 0)
  world.control.revokeTokens({ extensionId: first })
  return id
}

describe('when the extension that sends is disconnected', () => {
  test('the number stays with the other one, and waiting messages go on, in order', async () => {
    await using shared = await openShared()
    const { one, world, first, second } = shared
    world.control.fault(LOST)
    await sendEach(world, texts(4), undefined, QUEUE)
    await pass(one, MINUTE_MS, () => (sendsOf(world, first).length > 0 ? true : null), 0)
    const disconnected = world.call('DELETE', `/v1/rc/extensions/${first}`)
    await untilSent(one, 4, 5 * MINUTE_MS)
    expect((await disconnected).status).toBe(200)
    expect(record(world)).toEqual(texts(4))
    const { body } = await world.json<{ extensions: Listed[] }>('GET', '/v1/rc/extensions')
    expect(body.extensions.map(({ extensionId, phoneNumbers }) => [extensionId, phoneNumbers.at(-1)])).toEqual([
      [second, QUEUE],
    ])
  })
})

test('while a refresh fails, the number keeps its sender, and its messages wait for it', async () => {
  await using shared = await openShared()
  const { one, world, first, second } = shared
  world.control.fault({ route: 'token', calls: 2, fault: { kind: 'respond', status: 503 } })
  world.control.expireTokens({ extensionId: first })
  const id = await world.send({ from: QUEUE })
  expect(await one.ended(id, 5 * MINUTE_MS)).toMatchObject({ status: 'sent' })
  expect(sendsOf(world, first).at(-1)).toBe(200)
  expect(sendsOf(world, second)).toEqual([])
})

test('a number that does not belong to one extension any more goes out by the other one that lists it', async () => {
  await using shared = await openShared()
  const { one, world, first, second } = shared
  world.control.fault({
    route: 'sms',
    extensionId: first,
    calls: null,
    fault: { kind: 'respond', status: 403, body: MSG_304 },
  })
  await sendEach(world, texts(3), undefined, QUEUE)
  await untilSent(one, 3, 5 * MINUTE_MS)
  expect(record(world)).toEqual(texts(3))
  expect(sendsOf(world, second)).toEqual([200, 200, 200])
  world.control.fault({
    route: 'sms',
    extensionId: second,
    calls: null,
    fault: { kind: 'respond', status: 403, body: MSG_304 },
  })
  const id = await world.send({ from: QUEUE })
  const error = "Provider rejected the message: Phone number doesn't belong to extension (MSG-304)"
  expect(await one.ended(id, 5 * MINUTE_MS)).toMatchObject({ status: 'failed', error })
  expect(await one.attempts(id)).toHaveLength(2)
})

describe('when the extension that sends loses the number', () => {
  test('the other one sends, and only the first message finds out', async () => {
    await using shared = await openShared()
    const { one, world, first, second } = shared
    world.control.removeNumber({ extensionId: first, phoneNumber: QUEUE })
    await sendEach(world, texts(4), undefined, QUEUE)
    await untilSent(one, 4, 5 * MINUTE_MS)
    expect(record(world)).toEqual(texts(4))
    expect([sendsOf(world, first).length, sendsOf(world, second)]).toEqual([1, [200, 200, 200, 200]])
  })

  test('what it has sent is found by the other one: one copy', async () => {
    await using shared = await openShared()
    const { one, world, first } = shared
    world.control.fault(LOST)
    const id = await world.send({ from: QUEUE })
    await pass(one, MINUTE_MS, () => (sendsOf(world, first).length > 0 ? true : null), 0)
    world.control.removeNumber({ extensionId: first, phoneNumber: QUEUE })
    await read(world, first)
    expect(await one.ended(id, 5 * MINUTE_MS)).toMatchObject({ status: 'sent' })
    expect(one.atProvider).toBe(1)
  })
})

const MESSAGE = "Phone number doesn't belong to extension"
const MSG_304 = { errorCode: 'MSG-304', message: MESSAGE, errors: [{ errorCode: 'MSG-304', message: MESSAGE }] }
