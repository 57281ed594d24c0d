import { expect, spyOn, test } from 'bun:test'
import { setTenantStatus } from '../../../src/operator/tenants.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { attempts, inboundMessages } from '../../support/provider-events.ts'
import { startReceiver } from '../../support/receiver.ts'
import { type World, createWorld, recordedLog, until } from '../../support/world.ts'
import { setWebhookUrl, untilNoJobs } from '../../support/retries.ts'

const jobsLeft = async (world: World): Promise<number> =>
  Number((await world.gateway.database.gate.execute('SELECT count(*) AS n FROM jobs')).rows[0]?.['n'])

test('apps without an address and deactivated apps get nothing', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  const second = await world.secondApp(receiver.url)
  await world.control.injectSms({ text: 'first' })
  await receiver.received(1)
  await world.call('DELETE', `/v1/apps/${second.appId}`, { key: second.apiKey })
  await world.control.injectSms({ text: 'second' })
  await untilNoJobs(world)
  expect(receiver.requests.map((request) => request.body['body'])).toEqual(['first'])
  expect(await attempts(world)).toHaveLength(1)
})

test('a removed or changed address takes effect at once', async () => {
  await using old = startReceiver()
  await using fresh = startReceiver()
  await using world = await createWorld()
  await setWebhookUrl(world, old.url)
  await setWebhookUrl(world, fresh.url)
  await world.control.injectSms({ text: 'first' })
  await fresh.received(1)
  await setWebhookUrl(world, null)
  await world.control.injectSms({ text: 'second' })
  await untilNoJobs(world)
  expect([old.requests.length, fresh.requests.length]).toEqual([0, 1])
})

test('messages of a suspended tenant are stored but never fanned out', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  await setWebhookUrl(world, receiver.url)
  await world.json('POST', '/v1/triggers', { body: { callbackUrl: receiver.url } })
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  const { deliveries } = await world.control.injectSms({ text: 'while suspended' })
  expect(deliveries).toMatchObject([{ status: 200 }])
  await untilNoJobs(world)
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'active' })
  await world.control.injectSms({ text: 'afterwards' })
  await receiver.received(2)
  await untilNoJobs(world)
  expect((await inboundMessages(world)).messages.map((message) => message.body)).toEqual([
    'afterwards',
    'while suspended',
  ])
  expect(receiver.requests.map((request) => request.body['body'])).toEqual(['afterwards', 'afterwards'])
})

test('waiting deliveries of a tenant that is suspended are made when it is active again', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld({ work: false })
  await setWebhookUrl(world, receiver.url)
  const { gate } = world.gateway.database
  await world.control.injectSms({ text: 'waits' })
  expect((await gate.execute("SELECT lane FROM jobs WHERE kind = 'webhook'")).rows).toEqual([{ lane: world.app.appId }])
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  const reads = spyOn(gate, 'execute')
  world.running.work()
  await until(() => reads.mock.calls.some(([read]) => JSON.stringify(read).includes("'suspended'")))
  expect(receiver.requests).toEqual([])
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'active' })
  await untilNoJobs(world)
  expect(receiver.requests.map(({ body }) => body['body'])).toEqual(['waits'])
})

test('a trigger that answers 410 is deleted and keeps its log; other answers do not delete it', async () => {
  await using receiver = startReceiver(404)
  await using world = await createWorld()
  const { triggerId } = (
    await world.json<{ triggerId: string }>('POST', '/v1/triggers', { body: { callbackUrl: receiver.url } })
  ).body
  const listed = async (): Promise<unknown[]> =>
    (await world.json<{ triggers: unknown[] }>('GET', '/v1/triggers')).body.triggers
  await world.control.injectSms({ text: 'first' })
  await receiver.received(1)
  await untilNoJobs(world)
  expect(await listed()).toHaveLength(1)
  receiver.answer = () => new Response('no more', { status: 410 })
  await world.control.injectSms({ text: 'second' })
  await receiver.received(2)
  await untilNoJobs(world)
  expect(await listed()).toEqual([])
  await world.control.injectSms({ text: 'third' })
  await untilNoJobs(world)
  expect(receiver.requests).toHaveLength(2)
  const log = await attempts(world, `triggerId=${triggerId}`)
  expect(log.map(({ statusCode, responseSnippet }) => [statusCode, responseSnippet])).toEqual([
    [410, 'no more'],
    [404, 'thanks'],
  ])
})

test('all attempts of an event have one correlation id, and the next event has another one', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  await setWebhookUrl(world, receiver.url)
  await world.json('POST', '/v1/triggers', { body: { callbackUrl: receiver.url } })
  await world.control.injectSms({ text: 'first' })
  await world.control.injectSms({ text: 'second' })
  await receiver.received(4)
  await untilNoJobs(world)
  const byMessage = Map.groupBy(await attempts(world), (attempt) => attempt['messageId'])
  const shared = [...byMessage.values()].map((group) => [...new Set(group.map((attempt) => attempt['correlationId']))])
  expect(shared.map((ids) => ids.length)).toEqual([1, 1])
  expect(shared[0]).not.toEqual(shared[1])
})

test('at most 4 POSTs of an app and 8 of a host run at once, and all are made in the end', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld()
  const { promise: open, resolve: release } = Promise.withResolvers<void>()
  const underWay = new Map<string, number>()
  let most = 0
  receiver.answer = async ({ headers }) => {
    const app = String(headers['webhook-id']).split(':')[1] ?? ''
    underWay.set(app, (underWay.get(app) ?? 0) + 1)
    most = Math.max(most, ...underWay.values())
    await open
    return new Response('ok')
  }
  await setWebhookUrl(world, receiver.url)
  await world.control.injectSms({ text: 'one app' })
  for (let index = 0; index < 9; index++) await world.control.injectSms({ text: `one app ${index}` })
  await receiver.received(4)
  await world.secondApp(receiver.url)
  await world.secondApp(receiver.url)
  for (let index = 0; index < 10; index++) await world.control.injectSms({ text: `three apps ${index}` })
  await receiver.received(8)
  // After a complete fan-out, the next POSTs could have begun.
  await until(
    async () =>
      Number(
        (await world.gateway.database.gate.execute("SELECT count(*) AS n FROM jobs WHERE kind = 'webhook'")).rows[0]?.[
          'n'
        ],
      ) === 40,
  )
  expect(receiver.requests).toHaveLength(8)
  expect(most).toBe(4)
  release()
  await receiver.received(40, 10_000)
  expect(new Set(receiver.requests.map((request) => request.headers['webhook-id'])).size).toBe(40)
})

test('a delivery that cannot be opened is logged and retried after a second', async () => {
  await using receiver = startReceiver()
  const { log, lines } = recordedLog()
  await using world = await createWorld({ log })
  await setWebhookUrl(world, receiver.url)
  const { gate } = world.gateway.database
  await gate.execute('CREATE TRIGGER never BEFORE INSERT ON webhook_attempts BEGIN SELECT RAISE(IGNORE); END')
  await world.control.injectSms({ text: 'stays' })
  const failures = (): number => lines.filter((line) => line.includes('job failed')).length
  await until(() => failures() > 0)
  for (let turn = 0; turn < 500; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
  expect(failures()).toBeLessThanOrEqual(2)
  expect(await jobsLeft(world)).toBe(1)
  expect(receiver.requests).toEqual([])
})

test('a secret that cannot be decrypted uses up no attempt', async () => {
  await using receiver = startReceiver()
  const { log, lines } = recordedLog()
  const clock = manualClock()
  await using world = await createWorld({ clock, log })
  await setWebhookUrl(world, receiver.url)
  const { gate } = world.gateway.database
  const { rows } = await gate.execute('SELECT webhook_secret FROM apps')
  const encrypted = String(rows[0]?.['webhook_secret'])
  await gate.execute("UPDATE apps SET webhook_secret = 'broken'")
  await world.control.injectSms({ text: 'kept' })
  await until(() => lines.some((line) => line.includes('job failed')))
  await gate.execute({ sql: 'UPDATE apps SET webhook_secret = ?1', args: [encrypted] })
  await until(() => (clock.advance(100), receiver.requests.length === 1))
  await untilNoJobs(world)
  expect(await attempts(world)).toMatchObject([{ outcome: 'success' }])
})
