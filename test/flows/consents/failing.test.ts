import { describe, expect, test } from 'bun:test'
import { ownFailure } from '../../../src/provider/ringcentral/errors.ts'
import { pass } from '../fault-table/passing-time.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS, type Scene, doctor, openScene, out, searches, untilRead } from './scene.ts'

function goOn({ one }: Scene, ms: number): Promise<true> {
  const until = one.clock.now() + ms
  return pass(one, 2 * ms, () => (one.clock.now() > until ? true : null), 10 * SECOND_MS)
}

describe('a list that cannot be read to its end', () => {
  test.each([
    ['from the start', 0],
    ['since it was read once', 1],
  ])('%s is told by the doctor after an hour: which, since when, and what to do', async (_when, lists) => {
    await using scene = await openScene()
    scene.control.addConsent(out())
    if (lists > 0) await untilRead(scene)
    const before = searches(scene)
    scene.control.fault({ route: 'consents', calls: null, fault: { kind: 'respond', status: 502 } })
    await pass(scene.one, 2 * HOUR_MS, () => (searches(scene) > before ? true : null), SECOND_MS)
    const since = scene.one.clock.now()
    await goOn(scene, 50 * MINUTE_MS)
    expect((await doctor(scene))?.level).toBe('ok')
    await goOn(scene, 15 * MINUTE_MS)
    const finding = await doctor(scene)
    expect(finding?.level).toBe('warn')
    const { accountId = '' } = scene.control.extensions()[0] ?? {}
    const said =
      /^Reading the list of account (\S+) has failed since (\S+) \(502\), so the gateway learns .* status page .* every 10 minutes\.$/
    const [, account, at = ''] = said.exec(finding?.detail ?? '') ?? []
    expect(account).toBe(accountId)
    expect(Math.abs(Date.parse(at) - since)).toBeLessThan(2 * MINUTE_MS)
    scene.control.clearFaults()
    await untilRead(scene)
    expect(await doctor(scene)).toMatchObject({ level: 'ok', detail: '1 read' })
  })

  test('because its last pages are refused has the fix of the refusal', async () => {
    await using scene = await openScene()
    for (let at = 0; at < 501; at++) scene.control.addConsent(out({ to: `+1555556${String(at).padStart(4, '0')}` }))
    const { provider } = scene.world.gateway
    const { listConsents } = provider
    const failure = { ...ownFailure('rejected', 'No'), status: 403, code: 'CMN-401' }
    provider.listConsents = (token, query) =>
      query.pageToken === null ? listConsents(token, query) : Promise.resolve({ ok: false, failure })
    await goOn(scene, 90 * MINUTE_MS)
    expect((await doctor(scene))?.detail).toMatch(/since \S+ \(403 CMN-401\).*lacks the permission SMS/)
  })
})

describe.each(['webhook', 'websocket'] as const)('a refused subscription for events of consents by %s', (events) => {
  test('is asked for once a day, and at once when the extension is connected again', async () => {
    await using scene = await openScene('shown', events)
    const asked = refuseEventsOfConsents(scene)
    await pass(scene.one, 5 * MINUTE_MS, () => (asked.length > 0 ? true : null), SECOND_MS)
    await goOn(scene, 2 * HOUR_MS)
    expect(asked).toHaveLength(1)
    scene.one.clock.advance(22 * HOUR_MS)
    await goOn(scene, 15 * MINUTE_MS)
    expect(asked).toHaveLength(2)
    expect((await scene.world.connect()).status).toBe(200)
    await goOn(scene, 15 * MINUTE_MS)
    expect(asked).toHaveLength(3)
  })
})

test('a subscription for events of consents that failed because the address could not be reached is asked for again soon', async () => {
  await using scene = await openScene()
  const asked = refuseEventsOfConsents(scene, { status: 400, code: 'SUB-522' })
  await pass(scene.one, 5 * MINUTE_MS, () => (asked.length > 0 ? true : null), SECOND_MS)
  await goOn(scene, 15 * MINUTE_MS)
  expect(asked.length).toBeGreaterThan(2)
})

/** Returns the times at which they were asked for. */
function refuseEventsOfConsents({ world, one }: Scene, why = { status: 403, code: 'SUB-528' }): number[] {
  const asked: number[] = []
  const { provider } = world.gateway
  const { createSubscription, openEventSocket } = provider
  const refuse = (): Promise<{ ok: false; failure: ReturnType<typeof ownFailure> }> => {
    asked.push(one.clock.now())
    return Promise.resolve({ ok: false, failure: { ...ownFailure('rejected', 'No'), ...why } })
  }
  provider.createSubscription = (token, request) =>
    request.topic === 'consents' ? refuse() : createSubscription(token, request)
  provider.openEventSocket = (token, request) =>
    request.topic === 'consents' ? refuse() : openEventSocket(token, request)
  return asked
}
