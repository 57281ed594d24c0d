import { describe, expect, test } from 'bun:test'
import { FROM, FROM_2, TO } from '../../support/world.ts'
import { pass } from '../fault-table/passing-time.ts'
import {
  HOUR_MS,
  MINUTE_MS,
  PAIR,
  SECOND_MS,
  STRIDE_MS,
  STRANGER,
  doctor,
  openScene,
  out,
  pairs,
  put,
  refuseEvents,
  searches,
  sent,
  setPolicy,
  textIn,
  untilRead,
  untilSubscribed,
} from './scene.ts'

describe('a consent that changes in RingCentral', () => {
  test.each(['Api', 'Carrier', 'Upstream', 'Recipient'] as const)(
    'is known within the hour, with one event, if its source is %s, and so is the way back',
    async (source) => {
      await using scene = await openScene()
      refuseEvents(scene)
      await textIn(scene)
      await untilRead(scene)
      expect(await pairs(scene)).toEqual([])
      for (const [optStatus, then, event] of [
        ['OptOut', [`${PAIR} provider`], `${PAIR} out provider`],
        ['OptIn', [], `${PAIR} in provider`],
      ] as const) {
        scene.one.clock.advance(MINUTE_MS)
        scene.control.addConsent(out({ source, optStatus }))
        await untilRead(scene)
        expect(await pairs(scene)).toEqual([...then])
        await untilRead(scene)
        expect(scene.events.splice(0)).toEqual([event])
      }
    },
    // Five hours of the test's time: six seconds on a quiet machine, half a minute beside another test run.
    120_000,
  )

  test('counts for each number of the account that has a conversation with the contact, and for the others at the send', async () => {
    await using scene = await openScene()
    await textIn(scene)
    await textIn(scene, STRANGER, FROM_2)
    await untilRead(scene)
    scene.control.addConsent(out({ coverage: 'Account' }))
    await untilRead(scene)
    expect(await pairs(scene)).toEqual([`${PAIR} provider`])
    expect(scene.events).toEqual([`${PAIR} out provider`])
    await setPolicy(scene)
    expect(await sent(scene)).toBe('Recipient opted out')
    expect(await sent(scene, TO, FROM_2)).toBe('Recipient opted out')
    expect(await sent(scene, STRANGER, FROM_2)).toBe('sent')
    // Now there is a conversation of that number, too: no event, because nothing has changed.
    await untilRead(scene)
    expect(await pairs(scene)).toEqual([`${FROM} ${TO} provider`, `${FROM_2} ${TO} provider`])
    expect(scene.events).toHaveLength(1)
  })

  test('of one number leaves the others alone, the later one counts, and one for a campaign says nothing', async () => {
    await using scene = await openScene()
    const { control, one } = scene
    await setPolicy(scene)
    control.addConsent(out({ coverage: 'Account' }))
    one.clock.advance(SECOND_MS)
    control.addConsent(out({ from: FROM_2, optStatus: 'OptIn' }))
    control.addConsent(out({ to: STRANGER }))
    const campaign = { coverage: 'CampaignType', campaignType: 'Promotional' } as const
    control.addConsent({ to: '+15555550143', ...campaign })
    await untilRead(scene)
    expect(await sent(scene)).toBe('Recipient opted out')
    expect(await sent(scene, TO, FROM_2)).toBe('sent')
    expect([await sent(scene, STRANGER), await sent(scene, STRANGER, FROM_2)]).toEqual(['Recipient opted out', 'sent'])
    expect(await sent(scene, '+15555550143')).toBe('sent')
    expect((await doctor(scene))?.detail).toContain('1 left out')
  })

  test('is known within a minute where its event comes', async () => {
    await using scene = await openScene()
    await textIn(scene)
    await untilRead(scene)
    await untilSubscribed(scene)
    // What came while there was no subscription is read at once.
    await untilRead(scene, 2 * MINUTE_MS)
    scene.control.addConsent(out())
    await pass(scene.one, MINUTE_MS, async () => ((await pairs(scene)).length > 0 ? true : null))
    expect(scene.events).toEqual([`${PAIR} out provider`])
  })
})

describe('the first list of an account', () => {
  test('makes no event, but is stored', async () => {
    await using scene = await openScene()
    await textIn(scene)
    scene.control.addConsent(out())
    await untilRead(scene)
    expect([await pairs(scene), scene.events]).toEqual([[`${PAIR} provider`], []])
  })

  test('ends where the provider gives the same page again and again', async () => {
    await using scene = await openScene()
    const body = { records: [], paging: { nextPageToken: 'again' } }
    scene.control.fault({ route: 'consents', calls: null, fault: { kind: 'respond', status: 200, body } })
    await pass(scene.one, 2 * MINUTE_MS, () => (searches(scene) === 2 ? true : null))
    const until = scene.one.clock.now() + 5 * MINUTE_MS
    await pass(scene.one, 6 * MINUTE_MS, () => (scene.one.clock.now() > until ? true : null), SECOND_MS)
    expect(searches(scene)).toBe(2)
  })

  test('is the first one until it was read to its end', async () => {
    await using scene = await openScene()
    await textIn(scene)
    for (let at = 0; at < 700; at++) scene.control.addConsent(out({ to: `+1555556${String(at).padStart(4, '0')}` }))
    scene.one.clock.advance(SECOND_MS)
    // The second page is refused, so the list breaks off after the newest.
    scene.control.addConsent(out())
    scene.control.fault({ route: 'consents', after: 1, calls: 1, fault: { kind: 'respond', status: 500 } })
    await pass(scene.one, 2 * MINUTE_MS, async () => ((await pairs(scene)).length > 0 ? true : null))
    expect((await doctor(scene))?.detail).toStartWith('not read yet')
    await untilRead(scene)
    expect((await doctor(scene))?.detail).toStartWith('701 read')
    expect(scene.events).toEqual([])
    scene.control.addConsent(out({ optStatus: 'OptIn', modifiedAt: scene.one.clock.now() + SECOND_MS }))
    await pass(scene.one, HOUR_MS, () => (scene.events.length > 0 ? true : null), STRIDE_MS)
    expect(scene.events).toEqual([`${PAIR} in provider`])
  })
})

describe('beside what the gateway knows from elsewhere', () => {
  test('a consent that is older than a PUT changes nothing, and a newer one counts', async () => {
    await using scene = await openScene()
    await textIn(scene)
    await untilRead(scene)
    await setPolicy(scene)
    const before = scene.one.clock.now()
    scene.one.clock.advance(MINUTE_MS)
    await put(scene, false)
    scene.control.addConsent(out({ modifiedAt: before }))
    await untilRead(scene)
    expect([await pairs(scene), scene.events]).toEqual([[], []])
    // RingCentral refuses it, the gateway does not.
    expect(await sent(scene)).toBe('sent')
    scene.control.addConsent(out({ modifiedAt: scene.one.clock.now() }))
    await untilRead(scene)
    expect(await pairs(scene)).toEqual([`${PAIR} provider`])
    expect(await sent(scene)).toBe('Recipient opted out')
    scene.one.clock.advance(MINUTE_MS)
    await put(scene, false)
    await untilRead(scene)
    expect([await pairs(scene), await sent(scene)]).toEqual([[], 'sent'])
    expect(scene.events.filter((event) => event.endsWith('provider'))).toEqual([`${PAIR} out provider`])
  })

  test('a PUT about a number without a conversation is changed by a newer consent, too', async () => {
    await using scene = await openScene()
    await untilRead(scene)
    await put(scene, true)
    scene.one.clock.advance(MINUTE_MS)
    scene.control.addConsent(out({ optStatus: 'OptIn' }))
    await untilRead(scene)
    expect(await pairs(scene)).toEqual([])
    expect(scene.events).toEqual([`${PAIR} out api`, `${PAIR} in provider`])
  })

  test('a STOP is one event, whether its text or its consent comes first', async () => {
    await using scene = await openScene()
    await textIn(scene)
    await untilRead(scene)
    await textIn(scene, TO, FROM, 'STOP')
    await untilRead(scene)
    expect(await pairs(scene)).toEqual([`${PAIR} keyword`])
    await textIn(scene, TO, FROM, 'START')
    await untilRead(scene)
    expect(scene.events).toEqual([`${PAIR} out keyword`, `${PAIR} in keyword`])
  })

  test('an app that wants webhooks of opt-outs gets none of a consent, because no message has brought it', async () => {
    await using scene = await openScene()
    const { world } = scene
    const path = `/v1/apps/${world.app.appId}/webhook-events`
    expect((await world.call('PUT', path, { body: { events: ['opt_out'] } })).status).toBe(200)
    await textIn(scene)
    await untilRead(scene)
    scene.control.addConsent(out())
    await untilRead(scene)
    expect(scene.events).toHaveLength(1)
    const { rows } = await world.gateway.database.gate.execute('SELECT event FROM webhook_details')
    expect(rows).toEqual([])
  })
})
