import { expect, test } from 'bun:test'
import type { Fault } from '../../../src/simulator/faults.ts'
import { FROM, FROM_2, type World } from '../../support/world.ts'
import { FaultCase } from '../fault-table/case.ts'
import { pass, someTurns } from '../fault-table/passing-time.ts'
import { contact, record, sendEach, texts, untilSent, watchCalls } from './conversations.ts'

const REFUSED_CONTACT = contact(500)
const MINUTE_MS = 60_000
const LEAST_PAUSE_MS = 2000

test('two numbers of an extension take turns, although one has 30 waiting messages', async () => {
  const limits = { FROM_LIMIT_PER_MINUTE: '40', EXTENSION_LIMIT_PER_MINUTE: '4' }
  await using one = await FaultCase.open({ env: limits })
  const { world } = one
  await pass(one, 2 * MINUTE_MS, () => (world.gateway.quota.waitMs(FROM, extensionOf(world)) === 0 ? true : null))
  const sent = watchCalls(world)
  await sendEach(world, texts(30, 'many'), contact, FROM)
  await sendEach(world, texts(5, 'other'), contact, FROM_2)
  await untilSent(one, 35, 15 * MINUTE_MS, 1000)
  expect(sent.filter((text) => text.startsWith('other'))).toEqual(texts(5, 'other'))
  expect(sent.filter((text) => text.startsWith('many'))).toEqual(texts(30, 'many'))
  // Once both numbers have waiting messages, every second message is from the other number.
  const first = sent.indexOf('other 1')
  expect(sent.indexOf('other 5') - first).toBeLessThanOrEqual(2 * 4)
  expect(first).toBeLessThanOrEqual(10)
})

type Answer = Extract<Fault, { kind: 'respond' }>

/** Messages to one contact always get one of these answers, in turn. */
function refuseOne({ gateway, control }: World, answers: readonly Answer[]): { at: number[]; clock: () => number } {
  const { provider, clock } = gateway
  const call = provider.sendSms
  const seen = { at: [] as number[], clock: () => clock.now() }
  provider.sendSms = (token, message) => {
    if (message.to !== REFUSED_CONTACT) return call(token, message)
    // A 401 is answered by a new token and a second call of the same attempt.
    if (clock.now() - (seen.at.at(-1) ?? 0) >= LEAST_PAUSE_MS) seen.at.push(clock.now())
    control.fault({ route: 'sms', fault: answers[(seen.at.length - 1) % answers.length] as Answer })
    return call(token, message)
  }
  return seen
}

const body = '<html><body>Request blocked</body></html>'
const OWN_503: Answer = { kind: 'respond', status: 503 }
const page = (status: number): Answer => ({ kind: 'respond', status, body })

const TURNAWAYS: Record<string, Answer[]> = {
  "RingCentral's own 503": [OWN_503],
  "a firewall's 403": [page(403)],
  'a redirect': [page(302)],
  "a proxy's 401": [page(401)],
  'these in turn': [page(401), OWN_503, page(403), page(407), page(421)],
}

test.each(Object.entries(TURNAWAYS))(
  'a message that gets %s five times in a row delays only its own conversation',
  async (_, answers) => {
    await using one = await FaultCase.open()
    const { world, clock } = one
    const refused = refuseOne(world, answers)
    const held = await world.send({ to: REFUSED_CONTACT, body: 'held' })
    const behind = await world.send({ to: REFUSED_CONTACT, body: 'behind it' })
    await pass(one, 10 * MINUTE_MS, () => (refused.at.length === 5 ? true : null))
    await pass(one, MINUTE_MS, () => (one.openCalls === 0 ? true : null))
    await pass(one, 2 * MINUTE_MS, () =>
      world.gateway.quota.pauseMs(extensionOf(world), 'medium') === 0 ? true : null,
    )
    await sendEach(world, texts(20), contact)
    await untilSent(one, 20, MINUTE_MS)
    const others = record(world)
    expect(others.toSorted()).toEqual(texts(20).toSorted())

    // It is retried at most once a minute, without an effect on others.
    const tries = refused.at.length
    const until = clock.now() + 10 * MINUTE_MS
    await pass(one, 11 * MINUTE_MS, () => (clock.now() >= until ? true : null), 1000)
    expect(refused.at.length - tries).toBeGreaterThanOrEqual(8)
    expect(refused.at.length - tries).toBeLessThanOrEqual(12)
    await someTurns()
    expect(world.gateway.quota.pauseMs(extensionOf(world), 'medium')).toBe(0)
    expect(await world.status(held)).toMatchObject({ status: 'sending' })
    expect(await world.status(behind)).toMatchObject({ status: 'queued' })
  },
)

const extensionOf = (world: World): string => world.control.extensions()[0]?.extensionId ?? ''
