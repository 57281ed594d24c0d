import { expect, test } from 'bun:test'
import { diagnose } from '../../src/operator/doctor/diagnose.ts'
import { contact } from './order/conversations.ts'
import { FaultCase } from './fault-table/case.ts'
import { pass } from './fault-table/passing-time.ts'

// The provider's answers say how many calls it allows. The simulator enforces what its headers say.

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

async function openWith(limits: { medium: number; windowMs?: number }, env: Record<string, string> = {}) {
  const one = await FaultCase.open({ env })
  one.world.control.setLimits({ enabled: true, light: 100_000, auth: 1000, ...limits })
  // The connection has made calls, too. One answer tells the limit.
  one.clock.advance(limits.windowMs ?? MINUTE_MS)
  expect(await one.ended(await one.world.send({ to: contact(99) }), MINUTE_MS)).toMatchObject({ status: 'sent' })
  one.clock.advance(2 * MINUTE_MS)
  return one
}

const refusals = ({ world }: FaultCase) => world.control.requests().filter(({ status }) => status === 429).length
const limitOf = async ({ world }: FaultCase): Promise<unknown> =>
  (await world.json<{ extensions: { windowLimit: number }[] }>('GET', '/v1/rc/extensions/health')).body.extensions[0]
    ?.windowLimit
const doctor = async ({ world }: FaultCase) => (await diagnose(world.gateway)).find(({ check }) => check === 'limits')

test.each([
  ['of a minute', { medium: 20 }],
  ['of five minutes, scaled', { medium: 100, windowMs: 5 * MINUTE_MS }],
])('a lower limit %s counts: nothing is refused, and all is sent', async (_, limits) => {
  await using one = await openWith(limits)
  const ids = []
  for (let at = 0; at < 30; at++) ids.push(await one.world.send({ to: contact(at) }))
  const sentBy = (count: number) =>
    pass(one, 3 * MINUTE_MS, () => (one.atProvider >= count + 1 ? one.clock.now() : null))
  const twenty = await sentBy(20)
  expect(one.atProvider).toBe(21)
  expect((await sentBy(30)) - twenty).toBeGreaterThan(MINUTE_MS / 2)
  expect(refusals(one)).toBe(0)
  expect([await limitOf(one), (await doctor(one))?.level]).toEqual([20, 'ok'])
})

test.each([200, 403, 429])('the limit of something on the way, which answers %d, does not count', async (status) => {
  await using one = await openWith({ medium: 30 })
  const { control } = one.world
  const headers = { 'X-Rate-Limit-Group': 'medium', 'X-Rate-Limit-Limit': '1', 'X-Rate-Limit-Window': '86400' }
  control.fault({ route: 'sms', calls: null, fault: { kind: 'respond', status, body: '<html>Wait</html>', headers } })
  const before = control.requests({ route: 'sms' }).length
  const id = await one.world.send({ to: contact(1) })
  await pass(one, MINUTE_MS, () => (control.requests({ route: 'sms' }).length > before ? true : null))
  await pass(one, 2000, () => null).catch(() => null)
  expect(await limitOf(one)).toBe(30)
  control.clearFaults()
  expect(await one.ended(id, 10 * MINUTE_MS)).toMatchObject({ status: 'sent' })
})

test('what the operator has set counts, and the doctor names both', async () => {
  await using one = await openWith({ medium: 20 }, { EXTENSION_LIMIT_PER_MINUTE: '30' })
  expect(await limitOf(one)).toBe(30)
  expect(await doctor(one)).toMatchObject({
    level: 'warn',
    detail: expect.stringContaining('20 a minute and EXTENSION_LIMIT_PER_MINUTE is 30'),
  })
})

test('a higher limit is only said', async () => {
  await using one = await openWith({ medium: 100 })
  expect([await limitOf(one), await doctor(one)]).toMatchObject([
    40,
    { level: 'ok', detail: expect.stringContaining('set EXTENSION_LIMIT_PER_MINUTE=100') },
  ])
})

test('a limit below one a minute counts as one, and one that was not told for a day is forgotten', async () => {
  await using one = await openWith({ medium: 1, windowMs: 10 * MINUTE_MS })
  expect(await limitOf(one)).toBe(1)
  one.world.control.setLimits({ enabled: false })
  await pass(one, 2 * DAY_MS, async () => ((await limitOf(one)) === 40 ? true : null), DAY_MS / 4)
})
