import { describe, expect, test } from 'bun:test'
import { FaultCase } from '../fault-table/case.ts'
import { FAULTS } from '../fault-table/faults.ts'
import { pass } from '../fault-table/passing-time.ts'
import { contact, countOf, record, sendEach, texts, untilSent } from './conversations.ts'

const MINUTE_MS = 60_000
/** In a minute, for a user and an app. */
const RINGCENTRALS_TOKEN_LIMIT = 5
const OUTAGE_MS = 60 * MINUTE_MS
const CONTACTS = 5
const MESSAGES = 30
/** The step of the manual clock. */
const STEP_MS = 5000
const NEW_EVERY_MS = 4 * MINUTE_MS

/** Counts the calls, and the highest number of parallel calls. */
function watchCallsAtOnce({ gateway }: FaultCase['world']): { most: number; count: number } {
  const seen = { most: 0, count: 0 }
  const { provider } = gateway
  const call = provider.sendSms
  let open = 0
  provider.sendSms = async (token, message) => {
    seen.count++
    seen.most = Math.max(seen.most, ++open)
    return call(token, message).finally(() => void open--)
  }
  return seen
}

/**
 * The backoff grows to a minute. It belongs to the extension, so there is one call per minute. A message that was turned away
 * five times in a row has a backoff of its own.
 */
const CALLS_AN_HOUR: Record<string, [least: number, most: number]> = {
  refused: [55, 80],
  'DNS failure': [55, 80],
  '503': [55, 60 * CONTACTS],
  '403 with HTML': [55, 60 * CONTACTS],
}

describe.each(Object.entries(CALLS_AN_HOUR))('an outage of an hour: %s', (name, [least, most]) => {
  test('fails no message, makes one call at a time, and afterwards all messages are sent in order', async () => {
    await using one = await FaultCase.open()
    const { world, clock } = one
    const { sendSms } = world.gateway.provider
    const fault = FAULTS.find((known) => known.name === name)
    if (fault === undefined) throw new Error(`There is no fault ${name}`)
    one.applyFault({ method: 'sendSms', route: 'sms' }, { ...fault, always: true }, Infinity)
    const calls = watchCallsAtOnce(world)

    const startedAt = clock.now()
    const bodies = texts(MESSAGES)
    await sendEach(world, bodies.slice(0, 20), (n) => contact(n % CONTACTS))
    // Several calls begin before the first one fails.
    await pass(one, MINUTE_MS, () => (world.gateway.quota.pauseMs(extensionOf(one), 'medium') > 0 ? true : null))
    await pass(one, MINUTE_MS, () => (clock.now() > startedAt + 5000 ? true : null))
    Object.assign(calls, { most: 0, count: 0 })
    for (const [n, body] of bodies.slice(20).entries()) {
      await pass(one, OUTAGE_MS, () => (clock.now() > startedAt + (n + 1) * NEW_EVERY_MS ? true : null), STEP_MS)
      await world.send({ to: contact(n % CONTACTS), body })
    }
    await pass(one, OUTAGE_MS, () => (clock.now() > startedAt + OUTAGE_MS ? true : null), STEP_MS)
    expect(record(world)).toEqual([])
    expect(await countOf(world, 'failed')).toBe(0)
    expect(calls.count).toBeGreaterThanOrEqual(least)
    expect(calls.count).toBeLessThanOrEqual(most)
    expect(calls.most).toBe(1)

    world.control.clearFaults()
    world.gateway.provider.sendSms = sendSms
    await untilSent(one, MESSAGES, OUTAGE_MS, STEP_MS)
    for (let n = 0; n < CONTACTS; n++) {
      const own = bodies.filter((_, index) => index % CONTACTS === n)
      expect(record(world).filter((text) => own.includes(text))).toEqual(own)
    }
    expect(record(world)).toHaveLength(MESSAGES)
  })
})

test('an hour of 401s of a proxy fails nothing, and asks for fewer than five tokens a minute', async () => {
  await using one = await FaultCase.open()
  const { world, clock } = one
  const { control } = world
  control.clearRequests()
  control.fault({ route: 'sms', calls: null, fault: { kind: 'respond', status: 401, body: '<html>Sign in</html>' } })
  const bodies = texts(20)
  await sendEach(world, bodies, (n) => contact(n % CONTACTS))
  const until = clock.now() + OUTAGE_MS
  await pass(one, 2 * OUTAGE_MS, () => (clock.now() >= until ? true : null), STEP_MS)
  const tokens = control.requests({ route: 'token' }).map(({ at }) => at)
  const mostInAMinute = Math.max(
    ...tokens.map((from) => tokens.filter((at) => at >= from && at < from + MINUTE_MS).length),
  )
  expect(tokens.length).toBeGreaterThanOrEqual(10)
  expect(mostInAMinute).toBeLessThan(RINGCENTRALS_TOKEN_LIMIT)
  expect(await countOf(world, 'failed')).toBe(0)
  control.clearFaults()
  await untilSent(one, 20, OUTAGE_MS, STEP_MS)
  expect(record(world).toSorted()).toEqual(bodies.toSorted())
})

const extensionOf = ({ world }: FaultCase): string => world.control.extensions()[0]?.extensionId ?? ''
