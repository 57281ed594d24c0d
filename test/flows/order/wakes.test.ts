import { expect, test } from 'bun:test'
import { setTenantStatus } from '../../../src/operator/tenants.ts'
import { FaultCase } from '../fault-table/case.ts'
import { pass, someTurns } from '../fault-table/passing-time.ts'
import { record, sendEach, texts, untilSent } from './conversations.ts'

const MINUTE_MS = 60_000

const extensionOf = ({ world }: FaultCase): string => world.control.extensions()[0]?.extensionId ?? ''

/** Waits until `count` messages are sent, without advancing the clock. */
async function untilSentAtOnce(one: FaultCase, count: number): Promise<void> {
  const { clock } = one
  const still = { openCalls: 1, clock }
  const deadline = performance.now() + 3000
  await pass(still, 1, async () => {
    if (performance.now() > deadline) throw new Error(`Not sent at once: ${record(one.world).join(', ')}`)
    return record(one.world).length === count ? true : null
  })
}

test('the end of a pause wakes messages at once, retries before the others', async () => {
  await using one = await FaultCase.open()
  const { world, clock } = one
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '300' } } })
  const [met = ''] = await sendEach(world, ['part 1'])
  await pass(one, MINUTE_MS, () => (world.gateway.quota.pauseMs(extensionOf(one), 'medium') > 0 ? true : null))
  await sendEach(world, ['part 2', 'part 3'])
  expect(await world.status(met)).toMatchObject({ status: 'sending' })
  clock.advance(world.gateway.quota.pauseMs(extensionOf(one), 'medium') - 1)
  await someTurns()
  expect(record(world)).toEqual([])
  clock.advance(1)
  await untilSentAtOnce(one, 3)
  expect(record(world)).toEqual(texts(3))
})

test('a new authorization wakes messages at once, also messages that are sending', async () => {
  await using one = await FaultCase.open()
  const { world } = one
  const extensionId = extensionOf(one)
  await pass(one, MINUTE_MS, () => (world.control.subscriptions().length === 1 ? true : null))
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '1' } } })
  const [met = ''] = await sendEach(world, ['part 1'])
  await pass(one, MINUTE_MS, () => (world.gateway.quota.pauseMs(extensionId, 'medium') > 0 ? true : null))
  // The access token is refused, and refreshes fail for a long time.
  world.control.expireTokens({ extensionId })
  const headers = { 'Retry-After': '1800' }
  world.control.fault({ route: 'token', calls: null, fault: { kind: 'respond', status: 503, headers } })
  await sendEach(world, ['part 2', 'part 3'])
  const failed = async (): Promise<true | null> => ((await one.extension())?.status === 'refresh_failed' ? true : null)
  await pass(one, MINUTE_MS, failed)
  await pass(one, MINUTE_MS, () => (world.gateway.quota.pauseMs(extensionId, 'medium') === 0 ? true : null))
  await someTurns()
  expect(await world.status(met)).toMatchObject({ status: 'sending' })
  expect(record(world)).toEqual([])
  world.control.clearFaults()
  expect((await world.connect({ extensionId })).status).toBe(200)
  await untilSentAtOnce(one, 3)
  expect(record(world)).toEqual(texts(3))
  await untilSent(one, 3, MINUTE_MS)
})

test('after an activation, messages that were sending before the suspension are sent at once', async () => {
  await using one = await FaultCase.open()
  const { world, clock } = one
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 429, headers: { 'Retry-After': '20' } } })
  await sendEach(world, ['part 1'])
  await pass(one, MINUTE_MS, () => (world.gateway.quota.pauseMs(extensionOf(one), 'medium') > 0 ? true : null))
  await sendEach(world, ['part 2'])
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  const until = clock.now() + 10 * MINUTE_MS
  await pass(one, 11 * MINUTE_MS, () => (clock.now() >= until ? true : null), 5000)
  expect(record(world)).toEqual([])
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'active' })
  await untilSentAtOnce(one, 2)
  expect(record(world)).toEqual(texts(2))
})
