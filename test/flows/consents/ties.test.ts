import { describe, expect, test } from 'bun:test'
import { erase } from '../../../src/operator/erase.ts'
import { purgeConsents } from '../../../src/messages/upkeep/purge-consents.ts'
import { FROM, FROM_2, TO } from '../../support/world.ts'
import { pass } from '../fault-table/passing-time.ts'
import {
  MINUTE_MS,
  PAIR,
  SECOND_MS,
  type Scene,
  connectAlso,
  openScene,
  out,
  pairs,
  put,
  sent,
  setPolicy,
  storedContacts,
  textIn,
  untilRead,
} from './scene.ts'

const recordOf = (optStatus: 'OptIn' | 'OptOut', at: number) => ({
  from: FROM,
  to: TO,
  coverage: 'PhoneNumber',
  source: 'Api',
  optStatus,
  lastModifiedTime: new Date(at).toISOString(),
})

/** The next list has these records, in this order: what RingCentral lists as out and as in is not told apart. */
function listOnce({ control }: Scene, records: readonly object[]): void {
  const answer = (page: readonly object[]) =>
    control.fault({
      route: 'consents',
      calls: 1,
      fault: { kind: 'respond', status: 200, body: { records: page, paging: {} } },
    })
  answer(records)
  answer([])
}

describe('of two consents with the same time the opt-out counts', () => {
  test.each([
    ['first', ['OptOut', 'OptIn']],
    ['last', ['OptIn', 'OptOut']],
  ] as const)('when it comes %s, in one list', async (_when, order) => {
    await using scene = await openScene()
    await setPolicy(scene)
    await textIn(scene)
    await untilRead(scene)
    const at = scene.one.clock.now()
    listOnce(
      scene,
      order.map((one) => recordOf(one, at)),
    )
    await untilRead(scene)
    expect([await pairs(scene), await sent(scene)]).toEqual([[`${PAIR} provider`], 'Recipient opted out'])
    expect(scene.events).toEqual([`${PAIR} out provider`])
  })

  test.each([
    ['first', ['OptOut', 'OptIn'], [`${PAIR} out provider`]],
    ['last', ['OptIn', 'OptOut'], [`${PAIR} out provider`, `${PAIR} in provider`, `${PAIR} out provider`]],
  ] as const)('when it comes %s, in lists of different hours', async (_when, order, events) => {
    await using scene = await openScene()
    await setPolicy(scene)
    await textIn(scene)
    await untilRead(scene)
    const at = scene.one.clock.now()
    if (order[0] === 'OptIn') {
      listOnce(scene, [recordOf('OptOut', at - SECOND_MS)])
      await untilRead(scene)
    }
    for (const one of order) {
      listOnce(scene, [recordOf(one, at)])
      await untilRead(scene)
    }
    expect([await pairs(scene), await sent(scene)]).toEqual([[`${PAIR} provider`], 'Recipient opted out'])
    expect(scene.events).toEqual([...events])
  })

  test.each(['first', 'last'])('when it comes %s, for a number without a conversation', async (when) => {
    await using scene = await openScene()
    await setPolicy(scene)
    await untilRead(scene)
    const at = scene.one.clock.now()
    for (const one of when === 'first' ? (['OptOut', 'OptIn'] as const) : (['OptIn', 'OptOut'] as const)) {
      listOnce(scene, [recordOf(one, at)])
      await untilRead(scene)
    }
    expect(await sent(scene)).toBe('Recipient opted out')
  })

  test.each([false, true])('also if an app has said before what the first of them says (%p)', async (saidOut) => {
    await using scene = await openScene()
    await setPolicy(scene)
    await textIn(scene)
    await untilRead(scene)
    await put(scene, saidOut)
    const at = scene.one.clock.now()
    for (const one of saidOut ? (['OptOut', 'OptIn'] as const) : (['OptIn', 'OptOut'] as const)) {
      listOnce(scene, [recordOf(one, at + SECOND_MS)])
      await untilRead(scene)
    }
    expect([await pairs(scene), await sent(scene)]).toEqual([[expect.stringContaining(PAIR)], 'Recipient opted out'])
  })

  test('but what the gateway was told itself counts more than a consent of the same time', async () => {
    await using scene = await openScene()
    await textIn(scene)
    await untilRead(scene)
    await put(scene, true)
    await put(scene, false)
    const at = scene.one.clock.now()
    listOnce(scene, [recordOf('OptOut', at)])
    await untilRead(scene)
    expect(await pairs(scene)).toEqual([])
  })
})

test('a first list that changes what an app has told before changes it without an event', async () => {
  await using scene = await openScene()
  await put(scene, true)
  scene.events.splice(0)
  scene.control.addConsent(out({ optStatus: 'OptIn', modifiedAt: scene.one.clock.now() + SECOND_MS }))
  await untilRead(scene)
  expect([await pairs(scene), scene.events]).toEqual([[], []])
})

/** Answers to `listConsents` wait until they are released. */
function holdAnswers({ world }: Scene): { answered: Promise<void>; release: () => void } {
  const { provider } = world.gateway
  const { listConsents } = provider
  const answered = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  provider.listConsents = async (...parameters) => {
    const answer = await listConsents(...parameters)
    answered.resolve()
    await released.promise
    return answer
  }
  return {
    answered: answered.promise,
    release: () => {
      provider.listConsents = listConsents
      released.resolve()
    },
  }
}

/** Lets the time go on until an answer is held. */
async function untilHeld(scene: Scene, answered: Promise<void>): Promise<void> {
  let isHeld = false
  void answered.then(() => (isHeld = true))
  await pass({ clock: scene.one.clock, openCalls: 0 }, 2 * MINUTE_MS, () => (isHeld ? true : null), SECOND_MS)
}

test('a number that is erased while a list with it is on its way stays erased until RingCentral lists it again', async () => {
  await using scene = await openScene()
  scene.control.addConsent(out())
  const { answered, release } = holdAnswers(scene)
  await untilHeld(scene, answered)
  await erase(scene.world.gateway, { phone: TO })
  release()
  await pass(scene.one, MINUTE_MS, () => (scene.world.gateway.consents.answers().length > 0 ? true : null))
  expect(await storedContacts(scene)).toEqual([])
  await untilRead(scene)
  expect(await storedContacts(scene)).toEqual([TO])
  expect(scene.events).toEqual([])
})

test('an account that is connected again while its consents are deleted keeps those that it reads, without events', async () => {
  await using scene = await openScene()
  const { world, control } = scene
  await textIn(scene)
  control.addConsent(out())
  await untilRead(scene)
  const { extensionId = '' } = control.extensions()[0] ?? {}
  const gone = world.call('POST', '/v1/rc/disconnect')
  await pass(scene.one, 2 * MINUTE_MS, () => (control.subscriptions().length === 0 ? true : null))
  expect((await gone).status).toBe(200)
  const { writer } = world.gateway.database
  const { write } = writer
  // It is back before the first row is deleted.
  writer.write = async (statements) => {
    writer.write = write
    const results = await write(statements)
    await connectAlso(scene, extensionId)
    return results
  }
  await purgeConsents(world.gateway)
  expect(await storedContacts(scene)).toEqual([TO])
  // What was changed in between is in its next list, which is its first.
  control.addConsent(out({ from: FROM_2, coverage: 'Account', optStatus: 'OptIn', modifiedAt: scene.one.clock.now() }))
  await untilRead(scene)
  await pass(scene.one, MINUTE_MS, async () => ((await pairs(scene)).length === 0 ? true : null))
  expect(scene.events).toEqual([])
})
