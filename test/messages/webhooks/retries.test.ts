import { expect, test } from 'bun:test'
import { manualClock } from '../../support/manual-clock.ts'
import { attempts } from '../../support/provider-events.ts'
import {
  advanceInSteps,
  attemptsEnded,
  openFailingWebhook,
  setRetryPolicy,
  setWebhookUrl,
  startFailingReceiver,
} from '../../support/retries.ts'
import { createWorld } from '../../support/world.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const SCHEDULES = {
  short: [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE],
  standard: [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR],
}

for (const [policy, steps] of Object.entries(SCHEDULES)) {
  test(`${policy}: each retry is made at its time, within a tenth of the step, and none after the last`, async () => {
    await using failing = await openFailingWebhook(policy)
    const { world, clock, receiver } = failing
    await world.control.injectSms({ text: 'again and again' })
    await receiver.received(1)
    for (const [index, step] of steps.entries()) {
      await attemptsEnded(world, clock)
      clock.advance(step * 0.9 - 1)
      await attemptsEnded(world, clock)
      expect(receiver.requests).toHaveLength(index + 1)
      clock.advance(step * 0.2 + 2)
      await receiver.received(index + 2)
    }
    await attemptsEnded(world, clock)
    await advanceInSteps(world, clock, 48 * HOUR, 24 * HOUR)
    expect(receiver.requests).toHaveLength(steps.length + 1)
    const log = await attempts(world)
    expect(log.map((attempt) => attempt['attemptNumber'])).toEqual(
      Array.from({ length: steps.length + 1 }, (_, index) => steps.length + 1 - index),
    )
    expect(new Set(log.map((attempt) => attempt['deliveryId'])).size).toBe(1)
    const ids = receiver.requests.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids)).toEqual(new Set([String(log[0]?.['deliveryId'])]))
    // Each attempt has a signature of its own.
    expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(steps.length + 1)
  })
}

test('an attempt that succeeds ends the schedule', async () => {
  await using failing = await openFailingWebhook('standard')
  const { world, clock, receiver } = failing
  await world.control.injectSms({ text: 'second time lucky' })
  await receiver.received(1)
  receiver.answer = () => new Response('ok')
  await attemptsEnded(world, clock)
  await advanceInSteps(world, clock, 10 * MINUTE, MINUTE)
  expect(await attempts(world)).toMatchObject([
    { attemptNumber: 2, outcome: 'success' },
    { attemptNumber: 1, outcome: 'http_error' },
  ])
})

const WAITS: [header: string, afterMs: number][] = [
  ['3600', HOUR],
  ['999999', 24 * HOUR],
  ['1', 5 * SECOND * 0.9],
  ['soon', 5 * SECOND * 0.9],
]
for (const [header, afterMs] of WAITS) {
  test(`Retry-After: ${header} of a 503 can lengthen a step up to a day, but never shortens it`, async () => {
    await using failing = await openFailingWebhook('short')
    const { world, clock, receiver } = failing
    receiver.answer = () => new Response('', { status: 503, headers: { 'retry-after': header } })
    await world.control.injectSms({ text: 'busy' })
    await receiver.received(1)
    await attemptsEnded(world, clock)
    clock.advance(afterMs - 1)
    await attemptsEnded(world, clock)
    expect(receiver.requests).toHaveLength(1)
    clock.advance(SECOND + 2)
    await receiver.received(2)
  })
}

test('a 410 ends the schedule', async () => {
  await using failing = await openFailingWebhook('standard')
  const { world, clock, receiver } = failing
  receiver.answer = () => new Response('gone', { status: 410 })
  await world.control.injectSms({ text: 'nobody here' })
  await receiver.received(1)
  await attemptsEnded(world, clock)
  await advanceInSteps(world, clock, HOUR, 10 * MINUTE)
  expect(receiver.requests).toHaveLength(1)
})

test('a retry uses the address and the secret that are valid at its time', async () => {
  const clock = manualClock(Date.now())
  await using old = startFailingReceiver()
  await using fresh = startFailingReceiver()
  await using world = await createWorld({ clock })
  await setWebhookUrl(world, old.url)
  await setRetryPolicy(world, 'short')
  await world.control.injectSms({ text: 'moved' })
  await old.received(1)
  await attemptsEnded(world, clock)
  await setWebhookUrl(world, fresh.url)
  await world.call('POST', `/v1/apps/${world.app.appId}/rotate-webhook-secret`)
  clock.advance(6 * SECOND)
  const [retry] = await fresh.received(1)
  expect(old.requests).toHaveLength(1)
  expect(retry?.raw).toBe(old.requests[0]?.raw)
  expect(retry?.headers['webhook-signature']).not.toBe(old.requests[0]?.headers['webhook-signature'])
})

const ENDINGS: Record<string, (world: Awaited<ReturnType<typeof createWorld>>) => Promise<unknown>> = {
  'after the policy `none` was set': (world) => setRetryPolicy(world, 'none'),
  'without an address': (world) => setWebhookUrl(world, null),
  'of a deactivated app': (world) => world.call('DELETE', `/v1/apps/${world.app.appId}`),
}
for (const [name, end] of Object.entries(ENDINGS)) {
  test(`a waiting retry is dropped: ${name}`, async () => {
    await using failing = await openFailingWebhook('short')
    const { world, clock, receiver } = failing
    await world.control.injectSms({ text: 'in vain' })
    await receiver.received(1)
    await attemptsEnded(world, clock)
    await end(world)
    await advanceInSteps(world, clock, HOUR, 10 * MINUTE)
    expect(receiver.requests).toHaveLength(1)
    expect((await world.gateway.database.gate.execute("SELECT 1 FROM jobs WHERE kind = 'webhook_retry'")).rows).toEqual(
      [],
    )
  })
}

test('a trigger has a policy of its own', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using world = await createWorld({ clock })
  const { body } = await world.json('POST', '/v1/triggers', { body: { callbackUrl: receiver.url } })
  await world.call('PUT', `/v1/triggers/${String(body['triggerId'])}/webhook-retries`, { body: { policy: 'short' } })
  await world.control.injectSms({ text: 'to the trigger' })
  await receiver.received(1)
  await attemptsEnded(world, clock)
  clock.advance(6 * SECOND)
  await receiver.received(2)
  expect(receiver.requests[1]?.body).toMatchObject({ triggerId: body['triggerId'] })
  receiver.answer = () => new Response('gone', { status: 410 })
  await attemptsEnded(world, clock)
  clock.advance(MINUTE)
  await receiver.received(3)
  await attemptsEnded(world, clock)
  expect((await world.json('GET', '/v1/triggers')).body).toEqual({ triggers: [] })
})
