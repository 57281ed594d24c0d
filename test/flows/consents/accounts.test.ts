import { describe, expect, test } from 'bun:test'
import { erase } from '../../../src/operator/erase.ts'
import { TO } from '../../support/world.ts'
import { pass } from '../fault-table/passing-time.ts'
import {
  HOUR_MS,
  MINUTE_MS,
  PAIR,
  SECOND_MS,
  STRIDE_MS,
  STRANGER,
  connectAlso,
  doctor,
  filtersOf,
  health,
  openScene,
  out,
  pairs,
  refuseEvents,
  searches,
  sent,
  setPolicy,
  storedContacts,
  textIn,
  untilRead,
  untilSubscribed,
} from './scene.ts'

describe('an account that does not give them', () => {
  test.each([
    ['absent', 'ok', 'RingCentral has no list of them'],
    ['refused', 'warn', '(403 CMN-401)'],
  ] as const)('(%s) is asked again once a day, and the doctor says so', async (answer, level, said) => {
    await using scene = await openScene(answer)
    scene.control.addConsent(out())
    await textIn(scene)
    await setPolicy(scene)
    await pass(scene.one, 2 * MINUTE_MS, () => (searches(scene) > 0 ? true : null))
    await pass(scene.one, 23 * HOUR_MS, () => (scene.world.gateway.consents.answers().length > 0 ? true : null))
    scene.one.clock.advance(22 * HOUR_MS)
    const until = scene.one.clock.now() + MINUTE_MS
    await pass(scene.one, 2 * MINUTE_MS, () => (scene.one.clock.now() > until ? true : null), SECOND_MS)
    expect(searches(scene)).toBe(1)
    expect(await doctor(scene)).toMatchObject({ level, detail: expect.stringContaining(said) })
    const { body } = await scene.world.json<{ extensions: object[] }>('GET', '/v1/rc/extensions/health')
    expect(body.extensions).toMatchObject([{ status: 'active', reason: null }])
    await scene.world.gateway.alerts.check()
    expect(scene.world.gateway.alerts.firing).toEqual([])
    expect(await sent(scene)).toBe('sent')
    scene.control.configure({ consents: 'shown' })
    await untilRead(scene, 3 * HOUR_MS)
    expect(await pairs(scene)).toEqual([`${PAIR} provider`])
    expect(await doctor(scene)).toMatchObject({ level: 'ok', detail: expect.stringContaining('1 read') })
  })

  test('to one user is asked through another one', async () => {
    await using scene = await openScene()
    const { control, world } = scene
    const [first] = control.extensions()
    const { extensionId } = control.addExtension({ extensionId: '700000000', numbers: ['+15555550160'] })
    await connectAlso(scene, extensionId)
    control.fault({
      route: 'consents',
      extensionId: first?.extensionId ?? '',
      calls: null,
      fault: { kind: 'respond', status: 403, body: { errorCode: 'CMN-408', message: 'No', errors: [] } },
    })
    control.addConsent(out())
    await textIn(scene)
    await untilRead(scene)
    await pass(scene.one, MINUTE_MS, async () => ((await pairs(scene)).length > 0 ? true : null))
    expect(control.requests({ route: 'consents' }).map((one) => one.extensionId)).toEqual([
      first?.extensionId ?? '',
      extensionId,
      extensionId,
    ])
    expect(world.gateway.consents.answers()).toMatchObject([{ reader: { extensionId } }])
  })
})

test('two tenants of one account read it once, and each learns of it', async () => {
  await using scene = await openScene()
  const { world, control } = scene
  const other = await world.otherTenant()
  await connectAlso(scene, control.extensions()[0]?.extensionId ?? '', other)
  await textIn(scene)
  const id = await world.send({}, { key: other.apiKey })
  await pass(scene.one, MINUTE_MS, async () =>
    (await world.status(id, { key: other.apiKey }))['status'] === 'sent' ? true : null,
  )
  await untilRead(scene)
  const before = searches(scene)
  control.addConsent(out())
  await untilRead(scene)
  scene.one.clock.advance(10 * SECOND_MS)
  expect([await pairs(scene), await pairs(scene, other.apiKey)]).toEqual([[`${PAIR} provider`], [`${PAIR} provider`]])
  expect(scene.events).toEqual([`${PAIR} out provider`, `${PAIR} out provider`])
  expect(searches(scene) - before).toBeLessThanOrEqual(4)
})

test('erasing a number erases its consents, and disconnecting the account those of all', async () => {
  await using scene = await openScene()
  const { world, control } = scene
  control.addConsent(out())
  control.addConsent(out({ to: STRANGER, coverage: 'Account' }))
  await untilRead(scene)
  expect(await storedContacts(scene)).toEqual([STRANGER, TO])
  await erase(world.gateway, { phone: TO })
  expect(await storedContacts(scene)).toEqual([STRANGER])
  await pass(scene.one, MINUTE_MS, () => (control.subscriptions().length === 2 ? true : null))
  const gone = world.call('POST', '/v1/rc/disconnect')
  await pass(scene.one, 2 * MINUTE_MS, () => (control.subscriptions().length === 0 ? true : null))
  expect((await gone).status).toBe(200)
  await pass(scene.one, 3 * HOUR_MS, async () => ((await storedContacts(scene)).length === 0 ? true : null), STRIDE_MS)
  const { rows } = await world.gateway.database.gate.execute(`SELECT name FROM facts WHERE name LIKE 'consents%'`)
  expect(rows).toEqual([])
})

describe.each(['webhook', 'websocket'] as const)('the event by %s', (events) => {
  test('has a subscription of its own, of one extension of the account, whose refusal costs no other', async () => {
    await using scene = await openScene('shown', events)
    const { control } = scene
    const { extensionId } = control.addExtension({ extensionId: '700000000', numbers: ['+15555550160'] })
    await connectAlso(scene, extensionId)
    await untilSubscribed(scene)
    await untilRead(scene, 2 * MINUTE_MS)
    await textIn(scene)
    // Each extension looks after its subscriptions every ten minutes.
    const until = scene.one.clock.now() + 25 * MINUTE_MS
    await pass(scene.one, 30 * MINUTE_MS, () => (scene.one.clock.now() > until ? true : null), SECOND_MS)
    expect(filtersOf(scene).toSorted()).toEqual(['consents', 'instant?type=SMS', 'instant?type=SMS'])
    scene.control.addConsent(out())
    await pass(scene.one, MINUTE_MS, async () => ((await pairs(scene)).length > 0 ? true : null))
    expect(await health(scene)).toMatchObject([{ reason: null }, { reason: null }])
  })

  test('may be refused: texts come as ever, and consents within the hour', async () => {
    await using scene = await openScene('shown', events)
    if (events === 'websocket') scene.control.faultSockets({ kind: 'no-subscription', calls: null })
    else refuseEvents(scene)
    await textIn(scene)
    await untilRead(scene)
    scene.one.clock.advance(MINUTE_MS)
    scene.control.addConsent(out())
    await untilRead(scene)
    expect(await pairs(scene)).toEqual([`${PAIR} provider`])
    expect(filtersOf(scene)).toEqual(['instant?type=SMS'])
    expect(await health(scene)).toMatchObject([{ reason: null, subscription: { status: 'active' } }])
  })
})
