import { expect, test } from 'bun:test'
import { expectError } from '../../support/expect-error.ts'
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
import { startReceiver } from '../../support/receiver.ts'
import { type World, createWorld, until } from '../../support/world.ts'

const HOUR = 3_600_000

const idOf = async (world: World): Promise<string> =>
  until(async () => (await attempts(world))[0]?.['deliveryId'] as string | undefined)

const redeliver = (world: World, deliveryId: string, key = world.key) =>
  world.json('POST', `/v1/webhook-deliveries/${encodeURIComponent(deliveryId)}/redeliver`, { key })

test('a delivery that succeeded gets one more attempt', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  await setWebhookUrl(world, receiver.url)
  await world.control.injectSms({ text: 'once more' })
  const deliveryId = await idOf(world)
  expect(await redeliver(world, deliveryId)).toEqual({ status: 202, body: { deliveryId, attemptNumber: 2 } })
  await receiver.received(2)
  const log = await until(async () => {
    const found = await attempts(world)
    return found.length === 2 ? found : null
  })
  expect(log.map(({ attemptNumber, outcome }) => [attemptNumber, outcome])).toEqual([
    [2, 'success'],
    [1, 'success'],
  ])
  expect(receiver.requests[1]?.raw).toBe(String(receiver.requests[0]?.raw))
})

test('a waiting retry is made now, and the schedule continues after it', async () => {
  await using failing = await openFailingWebhook('short')
  const { world, clock, receiver } = failing
  await world.control.injectSms({ text: 'impatient' })
  await receiver.received(1)
  await attemptsEnded(world, clock)
  expect((await redeliver(world, await idOf(world))).body).toMatchObject({ attemptNumber: 2 })
  await receiver.received(2)
  await attemptsEnded(world, clock)
  // The step after the second attempt takes 30 s, not the 5 s of the first step.
  await advanceInSteps(world, clock, 26_000, 1000)
  expect(receiver.requests).toHaveLength(2)
  await advanceInSteps(world, clock, 8000, 1000)
  expect(receiver.requests).toHaveLength(3)
  await advanceInSteps(world, clock, 2 * HOUR, 60_000)
  expect(receiver.requests).toHaveLength(6)
})

test('a delivery whose schedule is over gets one attempt and no new schedule', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using world = await createWorld({ clock })
  await setWebhookUrl(world, receiver.url)
  await world.control.injectSms({ text: 'ended' })
  await receiver.received(1)
  await attemptsEnded(world, clock)
  await setRetryPolicy(world, 'short')
  expect((await redeliver(world, await idOf(world))).status).toBe(202)
  await receiver.received(2)
  await attemptsEnded(world, clock)
  await advanceInSteps(world, clock, 2 * HOUR, 60_000)
  expect(receiver.requests).toHaveLength(2)
})

test('a redelivery is refused while an attempt is due or under way', async () => {
  await using receiver = startFailingReceiver()
  await using world = await createWorld()
  const gone = Promise.withResolvers<void>()
  receiver.answer = () => gone.promise.then(() => new Response('ok'))
  await setWebhookUrl(world, receiver.url)
  const { messageId } = await injected(world)
  await receiver.received(1)
  const deliveryId = `${messageId}:${world.app.appId}`
  const busy = { status: 409, body: { error: 'Delivery is already in progress' } }
  expect(await redeliver(world, deliveryId)).toEqual(busy)
  gone.resolve()
  await idOf(world)
  const answers = await Promise.all(Array.from({ length: 10 }, () => redeliver(world, deliveryId)))
  const accepted = answers.filter(({ status }) => status === 202).length
  expect(answers.filter(({ status }) => status !== 202)).toEqual(Array.from({ length: 10 - accepted }, () => busy))
  await until(async () => (await attempts(world)).length === 1 + accepted)
  expect(receiver.requests).toHaveLength(1 + accepted)
  expect(receiver.overlaps).toEqual([])
})

/** Stores an inbound message. Its delivery may not be in the log yet. */
async function injected(world: World): Promise<{ messageId: string }> {
  await world.control.injectSms({ text: 'slow' })
  const { body } = await world.json<{ messages: { messageId: string }[] }>('GET', '/v1/sms/messages?direction=inbound')
  return { messageId: String(body.messages[0]?.messageId) }
}

test('a delivery whose first attempt waits is in progress', async () => {
  await using world = await createWorld({ work: false })
  await setWebhookUrl(world, 'http://127.0.0.1:9/hook')
  const { messageId } = await injected(world)
  expect(await redeliver(world, `${messageId}:${world.app.appId}`)).toEqual({
    status: 409,
    body: { error: 'Delivery is already in progress' },
  })
})

const LOSSES: Record<string, (world: World, key: string) => Promise<unknown>> = {
  'without an address': (world) => setWebhookUrl(world, null),
  'that was deactivated': (world) => world.call('DELETE', `/v1/apps/${world.app.appId}`),
}
for (const [name, lose] of Object.entries(LOSSES)) {
  test(`a delivery to an app ${name} cannot be repeated`, async () => {
    await using receiver = startReceiver()
    await using world = await createWorld()
    const second = await world.secondApp()
    await setWebhookUrl(world, receiver.url)
    await world.control.injectSms({ text: 'kept' })
    const deliveryId = await idOf(world)
    await lose(world, second.apiKey)
    expect(await redeliver(world, deliveryId, second.apiKey)).toEqual({
      status: 409,
      body: { error: 'Delivery has no destination' },
    })
    expect(receiver.requests).toHaveLength(1)
  })
}

test('a delivery to a deleted trigger cannot be repeated', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  const { body } = await world.json('POST', '/v1/triggers', { body: { callbackUrl: receiver.url } })
  await world.control.injectSms({ text: 'kept' })
  const deliveryId = await idOf(world)
  await world.call('DELETE', `/v1/triggers/${String(body['triggerId'])}`)
  expect((await redeliver(world, deliveryId)).body).toEqual({ error: 'Delivery has no destination' })
})

test('an unknown delivery and one of another tenant are not found', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  await setWebhookUrl(world, receiver.url)
  await world.control.injectSms({ text: 'mine' })
  const deliveryId = await idOf(world)
  const other = await world.otherTenant()
  const hostile = [`${deliveryId}0`, deliveryId.toUpperCase(), ' ', '%', '%_', '..%2F', "' OR 1=1 --", 'x'.repeat(3000)]
  for (const [id, key] of [[deliveryId, other.apiKey], ...hostile.map((text) => [text, world.key])] as const) {
    const path = `/v1/webhook-deliveries/${encodeURIComponent(id)}/redeliver`
    await expectError(await world.call('POST', path, { key }), 404, 'Delivery not found')
  }
  expect(receiver.requests).toHaveLength(1)
})

test('a delivery that was made ten thousands of times is made again as fast as another one', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  const { gate } = world.gateway.database
  await setWebhookUrl(world, receiver.url)
  await world.control.injectSms({ text: 'once' })
  const deliveryId = await idOf(world)
  await receiver.received(1)
  const fastestOf = async (count: number): Promise<number> => {
    const times: number[] = []
    while (times.length < count) {
      const { length } = receiver.requests
      const start = performance.now()
      await until(async () => (await redeliver(world, deliveryId)).status === 202)
      await receiver.received(length + 1)
      times.push(performance.now() - start)
    }
    return Math.min(...times)
  }
  const few = await fastestOf(5)
  await until(async () => (await attempts(world)).every(({ outcome }) => outcome === 'success'))
  await gate.execute(`WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
    INSERT INTO webhook_attempts (delivery_id, attempt_number, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at, outcome)
    SELECT delivery_id, i, tenant_id, kind, target_id, message_id, correlation_id, url, boot_id, attempted_at, outcome
    FROM webhook_attempts, n WHERE attempt_number = 1`)
  // On a busy machine any single one may take longer.
  await until(async () => (await fastestOf(1)) < few + 20)
})
