import { expect, test } from 'bun:test'
import { type WebhookEventInput, eventWebhooks } from '../../src/db/event-webhooks.ts'
import { erase } from '../../src/operator/erase.ts'
import { manualClock } from '../support/manual-clock.ts'
import { attempts } from '../support/provider-events.ts'
import { pass, setPolicy, setUrl, settled, startFailingReceiver } from '../support/retries.ts'
import { startReceiver } from '../support/receiver.ts'
import { TO, type World, createWorld } from '../support/world.ts'

const PAYLOAD = { type: 'opt_out', number: '+15555550100', contact: TO, optedOut: true, source: 'keyword' }

const commit = (world: World, input: Partial<WebhookEventInput> & Pick<WebhookEventInput, 'messageId'>) =>
  world.gateway.database.writer.write(
    eventWebhooks({ event: 'opt_out', tenantId: world.tenantId, appId: null, payload: PAYLOAD, now: 0, ...input }),
  )

const setEvents = (world: World, app: { appId: string; apiKey: string }, events: string[]) =>
  world.call('PUT', `/v1/apps/${app.appId}/webhook-events`, { key: app.apiKey, body: { events } })

test('an event is posted to each app of the tenant that asked for it, with the payload of its commit', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using second = startReceiver()
  await using silent = startReceiver()
  await using world = await createWorld({ clock, work: false })
  await setUrl(world, receiver.url)
  await setPolicy(world, 'short')
  await setEvents(world, world.app, ['opt_out'])
  await setEvents(world, await world.secondApp(second.url), ['opt_out', 'sms_status'])
  await setEvents(world, await world.secondApp(silent.url), ['sms_delivery'])
  const messageId = await world.send()
  await commit(world, { messageId })
  world.running.work()
  await receiver.received(1)
  await second.received(1)
  await settled(world, clock)
  await pass(world, clock, 6000, 1000)
  expect(receiver.requests.map(({ body }) => body)).toEqual([PAYLOAD, PAYLOAD])
  expect(second.requests.filter(({ body }) => body['type'] === 'opt_out')).toHaveLength(1)
  expect(silent.requests).toEqual([])
  expect(new Set((await attempts(world)).map((attempt) => attempt['deliveryId']))).toContain(
    `${messageId}:${world.app.appId}:opt_out`,
  )
})

test('while no app has asked, the commit stores nothing', async () => {
  await using world = await createWorld({ work: false })
  await setUrl(world, 'http://127.0.0.1:9/hook')
  await commit(world, { messageId: await world.send() })
  const { gate } = world.gateway.database
  expect((await gate.execute("SELECT 1 FROM jobs WHERE kind = 'webhook'")).rows).toEqual([])
  expect((await gate.execute('SELECT 1 FROM webhook_payloads')).rows).toEqual([])
})

test('one app alone hears an event that names it, and an erasure leaves nothing of it', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using world = await createWorld({ clock })
  const second = await world.secondApp('http://127.0.0.1:9/hook')
  await setUrl(world, receiver.url)
  await setPolicy(world, 'short')
  for (const app of [world.app, second]) await setEvents(world, app, ['sms_delivery'])
  const messageId = await world.send()
  await world.untilStatus(messageId)
  await commit(world, { messageId, event: 'sms_delivery', appId: world.app.appId })
  world.gateway.jobs.scheduled('webhook', world.app.appId, world.tenantId, 0)
  await receiver.received(1)
  await settled(world, clock)
  const { gate } = world.gateway.database
  const left = async (): Promise<number[]> =>
    Promise.all(
      ['jobs', 'deliveries', 'webhook_payloads'].map(
        async (table) => (await gate.execute(`SELECT 1 FROM ${table}`)).rows.length,
      ),
    )
  // The retry that waits, the attempt, the payload.
  expect(await left()).toEqual([1, 1, 1])
  await erase(world.gateway, { phone: TO })
  expect(await left()).toEqual([0, 0, 0])
})
