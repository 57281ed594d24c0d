import { describe, expect, test } from 'bun:test'
import type { Fault } from '../../src/simulator/faults.ts'
import { TO } from '../support/world.ts'
import { FaultCase } from './fault-table/case.ts'
import { pass } from './fault-table/passing-time.ts'
import { contact, sendEach, texts, untilSent } from './order/conversations.ts'

// Refusals that ask to wait, but for no time that would end anything.

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
/** The step of the manual clock, and a tick in which a due call begins. */
const STEP_MS = 200
/** The waits before the calls of a message that is always refused, in seconds. */
const WAITS_S = [1, 2, 4, 8, 16, 32, 60, 60]

const limited = (retryAfter: string): Fault => ({
  kind: 'respond',
  status: 429,
  headers: { 'Retry-After': retryAfter },
})

const sends = ({ world }: FaultCase) => world.control.requests({ route: 'sms' })

/** Sends a message into the fault; returns the waits between its calls in milliseconds, rounded down to the clock's steps. */
async function waits(one: FaultCase, fault: Fault, count: number): Promise<number[]> {
  one.world.control.clearRequests()
  one.world.control.fault({ route: 'sms', calls: null, fault })
  await one.world.send({ to: TO })
  await pass(one, 10 * MINUTE_MS, () => (sends(one).length > count ? true : null), STEP_MS)
  const at = sends(one).map((request) => request.at)
  return at.slice(1, count + 1).map((time, n) => time - (at[n] ?? 0))
}

function expectWaits(met: readonly number[], seconds: readonly number[]): void {
  expect(met).toHaveLength(seconds.length)
  for (const [n, ms] of met.entries()) {
    expect(ms).toBeGreaterThanOrEqual((seconds[n] ?? 0) * SECOND_MS)
    expect(ms).toBeLessThanOrEqual((seconds[n] ?? 0) * SECOND_MS + 3 * STEP_MS)
  }
}

describe('a 429 that asks for no pause is repeated after 1 s, 2 s, 4 s … a minute', () => {
  const past = 'Sat, 21 Nov 2020 02:30:00 GMT'
  test.each(['0', '0.0', '0.5', past, 'soon', '-5', '-1.5', '1 minute', '60, 60', '0x10', 'NaN'])(
    'Retry-After: %s',
    async (retryAfter) => {
      await using one = await FaultCase.open()
      expectWaits(await waits(one, limited(retryAfter), WAITS_S.length), WAITS_S)
    },
  )
})

test.each([
  ['1', [1, 1, 1]],
  ['1.5', [1.5, 1.5, 1.5]],
  ['7', [7, 7, 7]],
  // An hour is the most that is believed.
  ['9'.repeat(30), [3600]],
  ['', [60, 60]],
])('a 429 with Retry-After: %p waits as announced', async (retryAfter, seconds) => {
  await using one = await FaultCase.open()
  const longMs = 2 * 3600 * SECOND_MS
  one.world.control.fault({ route: 'sms', calls: null, fault: limited(retryAfter) })
  one.world.control.clearRequests()
  await one.world.send({ to: TO })
  await pass(one, longMs, () => (sends(one).length > seconds.length ? true : null), STEP_MS)
  const at = sends(one).map((request) => request.at)
  expectWaits(
    at.slice(1, seconds.length + 1).map((time, n) => time - (at[n] ?? 0)),
    seconds,
  )
})

test.each([
  ["RingCentral's own 503", { kind: 'respond', status: 503, headers: { 'Retry-After': '0' } }],
  ["a firewall's 403", { kind: 'respond', status: 403, body: '<html>', headers: { 'Retry-After': 'soon' } }],
] as [string, Fault][])('%s that asks for no pause is not repeated at once either', async (_, fault) => {
  await using one = await FaultCase.open()
  expectWaits(await waits(one, fault, 3), [1, 2, 4])
})

test('any other answer starts the count again', async () => {
  await using one = await FaultCase.open()
  const other: Fault[] = [
    { kind: 'respond', status: 429, headers: { 'Retry-After': '2' } },
    { kind: 'respond', status: 400 },
    { kind: 'delay', ms: 0 },
  ]
  for (const fault of other) {
    expectWaits(await waits(one, limited('0'), 3), [1, 2, 4])
    one.world.control.clearFaults()
    one.world.control.fault({ route: 'sms', fault })
    await untilIdle(one)
  }
})

const untilIdle = (one: FaultCase): Promise<true> =>
  pass(one, 10 * MINUTE_MS, async () => {
    const { rows } = await one.world.gateway.database.gate.execute("SELECT 1 FROM jobs WHERE kind = 'send' LIMIT 1")
    return rows.length === 0 ? true : null
  })

test('38 waiting conversations do not eat the minute of their extension', async () => {
  await using one = await FaultCase.open()
  const { world, clock } = one
  world.control.fault({ route: 'sms', calls: null, fault: limited('0') })
  await world.send({ to: TO, body: 'first' })
  await pass(one, MINUTE_MS, () => (sends(one).length === 1 ? true : null), STEP_MS)
  await sendEach(world, texts(38), contact)
  const until = clock.now() + MINUTE_MS
  await pass(one, 2 * MINUTE_MS, () => (clock.now() >= until ? true : null), STEP_MS)
  // One call at a time: after 1, 2, 4, 8, 16 and 32 s.
  expect(sends(one).length).toBeLessThanOrEqual(7)
  expect(sends(one).length).toBeGreaterThanOrEqual(6)
  world.control.clearFaults()
  await untilSent(one, 39, 10 * MINUTE_MS)
})

test('the count is that of one extension and one group of calls', async () => {
  await using one = await FaultCase.open({ work: false })
  const { control, gateway, tenantId } = one.world
  const bob = control.addExtension({ name: 'Bob', numbers: ['+15555550102'] })
  await one.world.connect({ extensionId: bob.extensionId })
  const alice = control.extensions().find(({ name }) => name === 'Alice')?.extensionId ?? ''
  control.fault({ route: '*', extensionId: alice, calls: null, fault: limited('0') })
  const read = (extensionId: string) => gateway.numbers.read({ tenantId, extensionId })
  const send = () =>
    gateway.extensionCalls.make({ tenantId, extensionId: alice }, 'medium', (token) =>
      gateway.provider.sendSms(token, { from: '+15555550100', to: TO, text: 'Hello' }),
    )
  for (const seconds of [1, 2, 4]) {
    expect((await read(alice)).type).toBe('failed')
    expect((await read(bob.extensionId)).type).toBe('ok')
    expect(gateway.quota.pauseMs(alice, 'light')).toBe(seconds * SECOND_MS)
    expect(gateway.quota.pauseMs(alice, 'medium')).toBe(0)
    expect(gateway.quota.pauseMs(bob.extensionId, 'light')).toBe(0)
    one.clock.advance(seconds * SECOND_MS)
  }
  expect((await send()).type).toBe('failed')
  expect(gateway.quota.pauseMs(alice, 'medium')).toBe(SECOND_MS)
  // An answer of the other group does not count.
  control.clearFaults()
  one.clock.advance(SECOND_MS)
  expect((await send()).type).toBe('ok')
  control.fault({ route: '*', extensionId: alice, calls: null, fault: limited('0') })
  expect((await read(alice)).type).toBe('failed')
  expect(gateway.quota.pauseMs(alice, 'light')).toBe(8 * SECOND_MS)
})
