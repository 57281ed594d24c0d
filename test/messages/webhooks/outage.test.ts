import { expect, test } from 'bun:test'
import { manualClock } from '../../support/manual-clock.ts'
import { attempts } from '../../support/provider-events.ts'
import {
  advanceInSteps,
  setRetryPolicy,
  setWebhookUrl,
  attemptsEnded,
  startFailingReceiver,
} from '../../support/retries.ts'
import { startReceiver } from '../../support/receiver.ts'
import { createWorld, recordedLog, until } from '../../support/world.ts'

const MINUTE = 60_000
const MESSAGES = 30

/** Runs an outage of a receiver of one hour, with a message every two minutes. */
async function outage(policy: string) {
  const clock = manualClock()
  const receiver = startFailingReceiver()
  const world = await createWorld({ clock })
  await setWebhookUrl(world, receiver.url)
  await setRetryPolicy(world, policy)
  for (let index = 0; index < MESSAGES; index++) {
    await world.control.injectSms({ text: `message ${index}` })
    await attemptsEnded(world, clock)
    await advanceInSteps(world, clock, 2 * MINUTE, MINUTE)
  }
  const arrived: unknown[] = []
  receiver.answer = ({ body }) => (arrived.push(body['body']), new Response('ok'))
  await advanceInSteps(world, clock, 240 * MINUTE, 10 * MINUTE)
  const log = await attempts(world)
  await world[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
  return { arrived, log, overlaps: receiver.overlaps, requests: receiver.requests }
}

test('after an outage of an hour, the policy `standard` delivers everything, and nothing twice at once', async () => {
  const { arrived, overlaps } = await outage('standard')
  expect(arrived.toSorted()).toEqual(Array.from({ length: MESSAGES }, (_, index) => `message ${index}`).toSorted())
  expect(overlaps).toEqual([])
})

test('during an outage, the policy `none` makes exactly one attempt per delivery', async () => {
  const { arrived, log, requests } = await outage('none')
  expect(arrived).toEqual([])
  expect(requests).toHaveLength(MESSAGES)
  expect(log).toHaveLength(MESSAGES)
  expect(new Set(log.map((attempt) => attempt['attemptNumber']))).toEqual(new Set([1]))
})

test('hanging retries delay no first attempt, neither of their destination nor of another', async () => {
  const clock = manualClock()
  await using hanging = startFailingReceiver()
  await using healthy = startReceiver()
  await using world = await createWorld({ clock, env: { MAX_APPS_PER_TENANT: '200' } })
  await setWebhookUrl(world, hanging.url)
  await setRetryPolicy(world, 'short')
  for (let index = 0; index < 20; index++) await world.control.injectSms({ text: `lost ${index}` })
  await hanging.received(20)
  await attemptsEnded(world, clock)
  const gone = Promise.withResolvers<void>()
  hanging.answer = () => gone.promise.then(() => new Response('too late'))
  clock.advance(6000)
  await hanging.received(22)
  await world.secondApp(healthy.url)
  await world.control.injectSms({ text: 'fresh' })
  await healthy.received(1)
  await hanging.received(23)
  expect(hanging.requests.filter(({ body }) => body['body'] === 'fresh')).toHaveLength(1)
  // At most two retries of a destination run at once.
  expect(hanging.requests).toHaveLength(23)
  gone.resolve()
  await attemptsEnded(world, clock)
})

test('a retry whose outcome could not be stored is Interrupted, and its schedule continues', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  const { log, lines } = recordedLog()
  await using world = await createWorld({ clock, log })
  const { gate } = world.gateway.database
  await setWebhookUrl(world, receiver.url)
  await setRetryPolicy(world, 'short')
  await world.control.injectSms({ text: 'not stored' })
  await receiver.received(1)
  await attemptsEnded(world, clock)
  receiver.answer = async () => {
    await gate.execute(
      "CREATE TRIGGER broken BEFORE UPDATE OF outcome ON webhook_attempts BEGIN SELECT RAISE(ABORT, 'broken'); END",
    )
    return new Response('', { status: 500 })
  }
  clock.advance(6000)
  await receiver.received(2)
  await until(() => lines.some((line) => line.includes('job failed')))
  await gate.execute('DROP TRIGGER broken')
  receiver.answer = () => new Response('ok')
  clock.advance(2000)
  await attemptsEnded(world, clock)
  expect(await attempts(world)).toMatchObject([{ attemptNumber: 2, errorClass: 'Interrupted' }, { attemptNumber: 1 }])
  await advanceInSteps(world, clock, 34_000, 1000)
  expect((await attempts(world))[0]).toMatchObject({ attemptNumber: 3, outcome: 'success' })
  expect(receiver.requests).toHaveLength(3)
  expect(receiver.overlaps).toEqual([])
})
