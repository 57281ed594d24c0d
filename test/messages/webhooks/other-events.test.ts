import { expect, test } from 'bun:test'
import { EVENT_KINDS } from '../../../src/db/schema/events.ts'
import { erase } from '../../../src/operator/erase.ts'
import { purgeDeliveries } from '../../../src/messages/upkeep/purge-deliveries.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { attempts, inboundMessages } from '../../support/provider-events.ts'
import {
  advanceInSteps,
  attemptsEnded,
  openFailingWebhook,
  setRetryPolicy,
  setWebhookUrl,
  startFailingReceiver,
} from '../../support/retries.ts'
import { startReceiver } from '../../support/receiver.ts'
import { FROM, TO, type World, createWorld } from '../../support/world.ts'

// The commits of these events append a row to the event log or to `webhook_details`. Database triggers create the jobs.

const setEvents = (world: World, app: { appId: string; apiKey: string }, events: string[]) =>
  world.call('PUT', `/v1/apps/${app.appId}/webhook-events`, { key: app.apiKey, body: { events } })

const AT = Date.parse('2026-11-21T02:31:00.500Z')

const DETAIL = { deliveryStatus: 'undelivered', errorCode: 'SMS-CAR-413', reason: 'The recipient has opted out' }

const conclude = (world: World, messageId: string) =>
  world.gateway.database.writer.write([
    {
      sql: 'INSERT INTO events (kinds, subject, at, detail) VALUES (?1, ?2, ?3, ?4)',
      args: [EVENT_KINDS.delivery, messageId, AT, JSON.stringify(DETAIL)],
    },
  ])

const optOut = (world: World, messageId: string, source: string) =>
  world.gateway.database.writer.write([
    {
      sql: "INSERT INTO webhook_details (message_id, event, at, detail) VALUES (?1, 'opt_out', ?2, ?3)",
      args: [messageId, AT, JSON.stringify({ optedOut: true, source })],
    },
  ])

const count = async (world: World, table: string): Promise<number> =>
  (await world.gateway.database.gate.execute(`SELECT 1 FROM ${table}`)).rows.length

const wake = (world: World): void => world.gateway.jobs.wake('webhook', world.app.appId, world.tenantId, 0)

test('sms_delivery is posted to the app that sent the message, with the fields of the WebSocket event, also by a retry', async () => {
  const clock = manualClock()
  await using receiver = startFailingReceiver()
  await using other = startReceiver()
  await using world = await createWorld({ clock })
  await setWebhookUrl(world, receiver.url)
  await setRetryPolicy(world, 'short')
  const second = await world.secondApp(other.url)
  for (const app of [world.app, second]) await setEvents(world, app, ['sms_delivery', 'opt_out'])
  const messageId = await world.send()
  const { rcMessageId } = await world.untilStatus(messageId)
  await conclude(world, messageId)
  wake(world)
  await receiver.received(1)
  await attemptsEnded(world, clock)
  await advanceInSteps(world, clock, 6000, 1000)
  const event = {
    type: 'sms_delivery',
    messageId,
    appId: world.app.appId,
    tenantId: world.tenantId,
    rcMessageId,
    deliveryStatus: 'undelivered',
    errorCode: 'SMS-CAR-413',
    reason: 'The recipient has opted out',
    timestamp: '2026-11-21T02:31:00.500Z',
  }
  expect(receiver.requests.map(({ body }) => body)).toEqual([event, event])
  expect(Object.keys(receiver.requests[0]?.body ?? {})).toEqual(Object.keys(event))
  expect(other.requests).toEqual([])
  expect((await attempts(world)).map((attempt) => attempt['deliveryId'])).toEqual(
    Array.from({ length: 2 }, () => `${messageId}:${world.app.appId}:sms_delivery`),
  )
})

test('opt_out is posted to all apps of the tenant that subscribed to it', async () => {
  await using receiver = startReceiver()
  await using second = startReceiver()
  await using silent = startReceiver()
  await using world = await createWorld({ work: false })
  await setWebhookUrl(world, receiver.url)
  await setEvents(world, world.app, ['opt_out'])
  await setEvents(world, await world.secondApp(second.url), ['opt_out', 'sms_delivery'])
  await setEvents(world, await world.secondApp(silent.url), ['sms_delivery', 'sms_status'])
  await world.control.injectSms({ from: TO, to: FROM, text: 'please, no more' })
  const [inbound] = (await inboundMessages(world)).messages
  const outbound = await world.send()
  await optOut(world, String(inbound?.messageId), 'keyword')
  await optOut(world, outbound, 'provider')
  world.running.work()
  await receiver.received(2)
  await second.received(2)
  const event = { type: 'opt_out', tenantId: world.tenantId, number: FROM, contact: TO, optedOut: true }
  const bodies = receiver.requests
    .map(({ body }) => body)
    .toSorted((a, b) => (String(a['source']) < String(b['source']) ? -1 : 1))
  expect(bodies).toEqual(
    ['keyword', 'provider'].map((source) => ({ ...event, source, timestamp: '2026-11-21T02:31:00.500Z' })),
  )
  expect(silent.requests.filter(({ body }) => body['type'] === 'opt_out')).toEqual([])
})

test('an event without a subscribed app stores no job and no detail', async () => {
  await using world = await createWorld({ work: false })
  await setWebhookUrl(world, 'http://127.0.0.1:9/hook')
  const messageId = await world.send()
  await conclude(world, messageId)
  await setEvents(world, world.app, ['sms_inbound', 'sms_status'])
  await conclude(world, messageId)
  const { rows } = await world.gateway.database.gate.execute("SELECT 1 FROM jobs WHERE kind = 'webhook'")
  expect(rows).toEqual([])
  expect(await count(world, 'webhook_details')).toBe(0)
})

test('an erasure deletes an event and its waiting retry', async () => {
  await using failing = await openFailingWebhook('short')
  const { world, clock, receiver } = failing
  await setEvents(world, world.app, ['sms_delivery'])
  const messageId = await world.send()
  await world.untilStatus(messageId)
  await conclude(world, messageId)
  wake(world)
  await receiver.received(1)
  await attemptsEnded(world, clock)
  const left = (): Promise<number[]> =>
    Promise.all(['jobs', 'webhook_attempts', 'webhook_details'].map((table) => count(world, table)))
  expect(await left()).toEqual([1, 1, 1])
  await erase(world.gateway, { phone: TO })
  expect(await left()).toEqual([0, 0, 0])
})

test('an event that was posted again late keeps its fields after 30 days; without them nothing is posted', async () => {
  const clock = manualClock()
  await using receiver = startReceiver()
  await using world = await createWorld({ clock })
  await setWebhookUrl(world, receiver.url)
  await setEvents(world, world.app, ['sms_delivery'])
  const messageId = await world.send()
  await world.untilStatus(messageId)
  await conclude(world, messageId)
  wake(world)
  await receiver.received(1)
  await attemptsEnded(world, clock)
  const path = `/v1/webhook-deliveries/${messageId}:${world.app.appId}:sms_delivery/redeliver`
  const again = async (): Promise<void> => {
    expect((await world.call('POST', path)).status).toBe(202)
    await attemptsEnded(world, clock)
  }
  clock.advance(20 * 86_400_000)
  await again()
  clock.advance(11 * 86_400_000)
  await purgeDeliveries(world.gateway)
  await again()
  expect(receiver.requests.map(({ body }) => body)).toEqual(
    Array.from({ length: 3 }, () => receiver.requests[0]?.body as never),
  )
  await world.gateway.database.gate.execute('DELETE FROM webhook_details')
  await again()
  expect(receiver.requests).toHaveLength(3)
})
