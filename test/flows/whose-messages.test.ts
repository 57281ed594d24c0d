import { describe, expect, test } from 'bun:test'
import { diagnose } from '../../src/operator/doctor/diagnose.ts'
import { type OwnerParameter, type QueueProxy, startQueueProxy } from '../support/queue-proxy.ts'
import { FROM, FROM_2, TO, type World } from '../support/world.ts'
import { FaultCase } from './fault-table/case.ts'
import { pass } from './fault-table/passing-time.ts'

// FROM belongs to a call queue: its messages are not in the store of the extension that sends them.

const MINUTE_MS = 60_000
const UNCONFIRMED = 'Delivery could not be confirmed with the provider'
const LOST = { route: 'sms', fault: { kind: 'accept-then-respond', status: 502 } } as const
const DROPPED = { route: 'sms', fault: { kind: 'respond', status: 502 } } as const

interface Queue extends AsyncDisposable {
  one: FaultCase
  world: World
  proxy: QueueProxy
}

async function openQueue(
  owner: OwnerParameter,
  options: Partial<Pick<QueueProxy, 'listsOwner' | 'refusal'>> = {},
): Promise<Queue> {
  let proxy: QueueProxy | null = null
  const between = (simulatorUrl: string): string => {
    proxy = Object.assign(startQueueProxy(simulatorUrl, FROM), { owner, ...options })
    return proxy.url
  }
  const one = await FaultCase.open({ between })
  const started = proxy as QueueProxy | null
  if (started === null) throw new Error('The proxy did not start')
  return {
    one,
    world: one.world,
    proxy: started,
    async [Symbol.asyncDispose]() {
      await one[Symbol.asyncDispose]()
      await started[Symbol.asyncDispose]()
    },
  }
}

describe('a message of a queue whose answer is lost', () => {
  test('is found where the platform shows the messages of every owner: one copy', async () => {
    await using queue = await openQueue('honoured')
    queue.world.control.fault(LOST)
    const id = await queue.world.send({ from: FROM })
    expect(await queue.one.ended(id, 5 * MINUTE_MS)).toMatchObject({ status: 'sent' })
    expect(queue.one.atProvider).toBe(1)
    expect(queue.proxy.listings.without).toBe(0)
  })

  test.each([
    ['refused', 400],
    ['refused', 403],
    ['ignored', 400],
  ] as const)('ends as unconfirmed where `owner` is %s (%p): one copy', async (owner, refusal) => {
    await using queue = await openQueue(owner, { refusal })
    queue.world.control.fault(LOST)
    const id = await queue.world.send({ from: FROM })
    const { tookMs, ...ended } = await queue.one.ended(id, 12 * MINUTE_MS)
    expect(ended).toEqual({ status: 'failed', error: UNCONFIRMED })
    expect(tookMs).toBeWithin(9 * MINUTE_MS, 11 * MINUTE_MS)
    expect(queue.one.atProvider).toBe(1)
  })

  test('ends as unconfirmed where only the answer of an earlier message has named the queue', async () => {
    await using queue = await openQueue('ignored', { listsOwner: false })
    expect(await queue.one.ended(await queue.world.send({ from: FROM }), MINUTE_MS)).toMatchObject({ status: 'sent' })
    queue.world.control.fault(LOST)
    const id = await queue.world.send({ from: FROM, body: 'Second' })
    expect(await queue.one.ended(id, 12 * MINUTE_MS)).toMatchObject({ status: 'failed', error: UNCONFIRMED })
    expect(queue.one.atProvider).toBe(2)
  })
})

test('a message of a queue that was never accepted is sent again only if its messages have been shown before', async () => {
  await using queue = await openQueue('honoured')
  queue.world.control.fault(DROPPED)
  const first = await queue.world.send({ from: FROM })
  expect(await queue.one.ended(first, 12 * MINUTE_MS)).toMatchObject({ status: 'failed', error: UNCONFIRMED })
  expect(queue.one.atProvider).toBe(0)
  const second = await queue.world.send({ from: FROM, body: 'Second' })
  expect(await queue.one.ended(second, MINUTE_MS)).toMatchObject({ status: 'sent' })
  await pass(queue.one, MINUTE_MS, async () => ((await shownAt(queue.world)) === null ? null : true))
  queue.world.control.fault(DROPPED)
  const third = await queue.world.send({ from: FROM, body: 'Third' })
  expect(await queue.one.ended(third, 12 * MINUTE_MS)).toMatchObject({ status: 'sent' })
  expect(queue.one.atProvider).toBe(2)
})

test('a number of the extension itself is found and sent again as ever, whatever the platform does with `owner`', async () => {
  for (const [owner, refusal] of [
    ['honoured', 400],
    ['refused', 400],
    ['refused', 403],
    ['ignored', 400],
  ] as const) {
    await using queue = await openQueue(owner, { refusal })
    queue.world.control.fault(LOST)
    queue.world.control.fault(DROPPED)
    const ids = [await queue.world.send({ from: FROM_2, body: 'lost' })]
    expect(await queue.one.ended(ids[0] ?? '', 5 * MINUTE_MS)).toMatchObject({ status: 'sent' })
    ids.push(await queue.world.send({ from: FROM_2, body: 'dropped' }))
    expect(await queue.one.ended(ids[1] ?? '', 5 * MINUTE_MS)).toMatchObject({ status: 'sent' })
    expect([owner, queue.one.atProvider]).toEqual([owner, 2])
  }
})

test('a refused `owner` is asked for once a day, and a store that fails is not taken for a refusal', async () => {
  await using queue = await openQueue('refused')
  const { listings } = queue.proxy
  // The first back-fill and the job of the connection may ask at the same time.
  await pass(queue.one, MINUTE_MS, () => (listings.without > 1 ? true : null))
  const asked = listings.withOwner
  expect(asked).toBeLessThanOrEqual(2)
  await queue.one.ended(await queue.world.send({ from: FROM_2 }), MINUTE_MS)
  await pass(queue.one, 40 * MINUTE_MS, () => (listings.without > 4 ? true : null))
  expect(listings.withOwner).toBe(asked)
  await pass(queue.one, 25 * 60 * MINUTE_MS, () => (listings.withOwner > asked ? true : null), 5 * MINUTE_MS)

  await using failing = await openQueue('honoured')
  failing.world.control.fault({ route: 'message-store', calls: 3, fault: { kind: 'respond', status: 503 } })
  await pass(failing.one, 40 * MINUTE_MS, () => (failing.proxy.listings.withOwner > 4 ? true : null))
  expect(failing.proxy.listings.without).toBe(0)
})

test('what became of a queue’s message, and what came to the queue without an event, is learnt', async () => {
  await using queue = await openQueue('honoured')
  const { world, one } = queue
  world.control.configure({ deliveredAfterMs: 3000 })
  const id = await world.send({ from: FROM })
  await pass(one, 5 * MINUTE_MS, async () => {
    const { body } = await world.json<{ deliveryStatus: string }>('GET', `/v1/sms/${id}/timeline`)
    return body.deliveryStatus === 'delivered' ? true : null
  })
  await world.control.injectSms({ from: TO, to: FROM, text: 'to the queue', deliver: false })
  await pass(one, 20 * MINUTE_MS, async () => {
    const { body } = await world.json<{ total: number }>('GET', '/v1/sms/messages?direction=inbound')
    return body.total === 1 ? true : null
  })
})

test('an upgraded gateway reads how its numbers are used before it takes a missing record as a proof', async () => {
  await using queue = await openQueue('honoured')
  const { world, one } = queue
  const { writer } = world.gateway.database
  await writer.write([{ sql: 'UPDATE phone_numbers SET usage_type = NULL, owner_id = NULL', args: [] }])
  await writer.write([{ sql: 'UPDATE extensions SET numbers_read_at = NULL', args: [] }])
  world.gateway.directory.forget(world.tenantId)
  expect((await diagnose(world.gateway)).find(({ check }) => check === 'numbers')?.level).toBe('ok')
  const read = world.control.requests({ route: 'phone-number' }).length
  world.control.fault(DROPPED)
  const id = await world.send({ from: FROM_2 })
  expect(await one.ended(id, 90_000)).toMatchObject({ status: 'sent' })
  expect(world.control.requests({ route: 'phone-number' }).length).toBe(read + 1)
  const { rows } = await world.gateway.database.gate.execute('SELECT usage_type FROM phone_numbers ORDER BY number')
  expect(rows.map((row) => row['usage_type'])).toEqual(['DirectNumber', 'DirectNumber'])
  expect(one.atProvider).toBe(1)
})

test('the doctor names the numbers whose missing records prove nothing, and the health of an extension how each is used', async () => {
  await using queue = await openQueue('ignored')
  const { world } = queue
  const doctor = async () => (await diagnose(world.gateway)).find(({ check }) => check === 'numbers')
  expect(await doctor()).toMatchObject({ level: 'warn', detail: expect.stringContaining(FROM) })
  expect((await doctor())?.detail).not.toContain(FROM_2)
  const { body } = await world.json<{ extensions: { numbers: unknown }[] }>('GET', '/v1/rc/extensions/health')
  expect(body.extensions[0]?.numbers).toEqual([
    { phoneNumber: FROM, usageType: 'DirectNumber', canSendMedia: true, inbound: 'here', campaign: null },
    { phoneNumber: FROM_2, usageType: 'DirectNumber', canSendMedia: true, inbound: 'here', campaign: null },
  ])
  queue.proxy.owner = 'honoured'
  expect(await queue.one.ended(await world.send({ from: FROM }), MINUTE_MS)).toMatchObject({ status: 'sent' })
  await pass(queue.one, MINUTE_MS, async () => ((await shownAt(world)) === null ? null : true))
  expect(await doctor()).toMatchObject({ level: 'ok' })
})

async function shownAt({ gateway }: World): Promise<unknown> {
  const sql = 'SELECT shown_at FROM phone_numbers WHERE number = ?1'
  return (await gateway.database.gate.execute({ sql, args: [FROM] })).rows[0]?.['shown_at']
}
