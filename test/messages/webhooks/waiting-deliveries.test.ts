import { describe, expect, spyOn, test } from 'bun:test'
import { erase } from '../../../src/operator/erase.ts'
import { setTenantStatus } from '../../../src/operator/tenants.ts'
import { attempts, postEvent, smsEvent, subscribe } from '../../support/provider-events.ts'
import { type Receiver, startReceiver, verifySignatures } from '../../support/receiver.ts'
import { attemptsEnded, openFailingWebhook, setWebhookUrl, untilNoJobs } from '../../support/retries.ts'
import { type World, createWorld, recordedLog, until } from '../../support/world.ts'

// Changes of a destination take effect for the deliveries that wait for a slot.

const SLOTS = 4
const WAITING = 3

/**
 * Hanging POSTs use all slots of the destination, and three more deliveries wait. Returns a function that ends the
 * POSTs.
 */
async function waiting(world: World, receiver: Receiver): Promise<() => void> {
  const gone = Promise.withResolvers<void>()
  receiver.answer = async () => (await gone.promise, new Response('ok'))
  for (let index = 0; index < SLOTS; index++) await world.control.injectSms({ text: `begun ${index}` })
  await receiver.received(SLOTS)
  for (let index = 0; index < WAITING; index++) await world.control.injectSms({ text: `waits ${index}` })
  return gone.resolve
}

const texts = (receiver: Receiver): unknown[] => receiver.requests.map(({ body }) => body['body']).toSorted()
const BEGUN = ['begun 0', 'begun 1', 'begun 2', 'begun 3']
const WAITED = ['waits 0', 'waits 1', 'waits 2']

test('waiting deliveries go to the address that was set meanwhile', async () => {
  await using old = startReceiver()
  await using fresh = startReceiver()
  await using world = await createWorld()
  await setWebhookUrl(world, old.url)
  const go = await waiting(world, old)
  await setWebhookUrl(world, fresh.url)
  go()
  await untilNoJobs(world)
  expect(texts(old)).toEqual(BEGUN)
  expect(texts(fresh)).toEqual(WAITED)
  expect(await attempts(world)).toHaveLength(SLOTS + WAITING)
})

test('waiting deliveries are signed with the secret that was created meanwhile', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  await setWebhookUrl(world, receiver.url)
  const go = await waiting(world, receiver)
  const rotated = await world.json('POST', `/v1/apps/${world.app.appId}/rotate-webhook-secret`)
  go()
  await untilNoJobs(world)
  expect(texts(receiver)).toEqual([...BEGUN, ...WAITED])
  for (const request of receiver.requests.slice(SLOTS)) verifySignatures(request, String(rotated.body['webhookSecret']))
})

const ENDINGS: Record<string, (world: World) => Promise<unknown>> = {
  'without an address': (world) => setWebhookUrl(world, null),
  'of a deactivated app': (world) => world.call('DELETE', `/v1/apps/${world.app.appId}`),
  'of a deactivated tenant': (world) =>
    setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'inactive' }),
}

for (const [name, end] of Object.entries(ENDINGS)) {
  test(`waiting deliveries are dropped: ${name}`, async () => {
    await using receiver = startReceiver()
    await using world = await createWorld()
    await setWebhookUrl(world, receiver.url)
    const go = await waiting(world, receiver)
    await end(world)
    go()
    await untilNoJobs(world)
    expect(texts(receiver)).toEqual(BEGUN)
  })
}

test('waiting deliveries of a suspended tenant wait until it is active again', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  await setWebhookUrl(world, receiver.url)
  const go = await waiting(world, receiver)
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  const { gate } = world.gateway.database
  const reads = spyOn(gate, 'execute')
  go()
  // All waiting deliveries have had their turn.
  const refused = (): number => reads.mock.calls.filter(([read]) => JSON.stringify(read).includes("'suspended'")).length
  await until(() => refused() >= WAITING)
  expect(texts(receiver)).toEqual(BEGUN)
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'active' })
  await untilNoJobs(world)
  expect(texts(receiver)).toEqual([...BEGUN, ...WAITED])
})

test('a retry that becomes due while its tenant is suspended is made when the tenant is active again, and its schedule continues', async () => {
  await using failing = await openFailingWebhook('short')
  const { world, clock, receiver } = failing
  await world.control.injectSms({ text: 'again' })
  await receiver.received(1)
  await attemptsEnded(world, clock)
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  const reads = spyOn(world.gateway.database.gate, 'execute')
  clock.advance(10 * 60_000)
  await until(() => reads.mock.calls.some(([read]) => JSON.stringify(read).includes("'suspended'")))
  expect(receiver.requests).toHaveLength(1)
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'active' })
  await receiver.received(2)
  await attemptsEnded(world, clock)
  clock.advance(33_000)
  await receiver.received(3)
  expect((await attempts(world)).map(({ attemptNumber }) => attemptNumber)).toContain(2)
})

test('waiting deliveries of erased messages are dropped', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  await setWebhookUrl(world, receiver.url)
  const go = await waiting(world, receiver)
  await erase(world.gateway, { phone: receiver.requests[0]?.body['from'] as string })
  go()
  await untilNoJobs(world)
  expect(texts(receiver)).toEqual(BEGUN)
  expect((await world.gateway.database.gate.execute('SELECT 1 FROM webhook_attempts')).rows).toEqual([])
})

// A purge by age leaves no tombstone, so the tombstones of the erasure are deleted here.
describe('a delivery whose message was deleted and arrived again is sent once', () => {
  const PERSON = '+15555550188'
  const event = smsEvent({ from: { phoneNumber: PERSON }, subject: 'comes again' })

  async function arriveAgain(world: World): Promise<void> {
    const token = await subscribe(world)
    await postEvent(world, token, event)
    await erase(world.gateway, { phone: PERSON })
    await world.gateway.database.gate.execute('DELETE FROM erased_messages')
    await postEvent(world, token, event)
  }

  /** Answers when the other job of the same delivery has ended. That job runs while this POST is open. */
  const answerLast = (world: World): (() => Promise<Response>) => {
    const sql = `SELECT 1 FROM jobs WHERE subject LIKE (SELECT id FROM messages WHERE from_number = '${PERSON}') || '%'`
    return async () => {
      await until(async () => (await world.gateway.database.gate.execute(sql)).rows.length === 1)
      return new Response('ok')
    }
  }

  test('if it waited for a slot', async () => {
    await using receiver = startReceiver()
    await using world = await createWorld()
    await setWebhookUrl(world, receiver.url)
    const go = await waiting(world, receiver)
    await arriveAgain(world)
    const last = answerLast(world)
    receiver.answer = ({ body }) => (body['body'] === 'comes again' ? last() : new Response('ok'))
    go()
    await untilNoJobs(world)
    expect(texts(receiver)).toEqual([...BEGUN, 'comes again', ...WAITED])
    expect((await attempts(world)).map(({ outcome }) => outcome)).toEqual(Array(SLOTS + WAITING + 1).fill('success'))
  })

  test('if it was found at the start', async () => {
    await using receiver = startReceiver()
    const { log, lines } = recordedLog()
    await using world = await createWorld({ log, work: false })
    await setWebhookUrl(world, receiver.url)
    await arriveAgain(world)
    receiver.answer = answerLast(world)
    world.running.work()
    await untilNoJobs(world)
    expect(texts(receiver)).toEqual(['comes again'])
    expect(await attempts(world)).toMatchObject([{ outcome: 'success' }])
    expect(lines.filter((line) => line.includes('job failed'))).toEqual([])
  })
})

test('waiting deliveries of a deleted trigger are dropped', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  const { triggerId } = (
    await world.json<{ triggerId: string }>('POST', '/v1/triggers', { body: { callbackUrl: receiver.url } })
  ).body
  const go = await waiting(world, receiver)
  await world.call('DELETE', `/v1/triggers/${triggerId}`)
  go()
  await untilNoJobs(world)
  expect(texts(receiver)).toEqual(BEGUN)
})
