import { expect, test } from 'bun:test'
import { attempts } from '../../support/provider-events.ts'
import { setRetryPolicy, setWebhookUrl, untilNoJobs } from '../../support/retries.ts'
import { startReceiver, verifySignatures } from '../../support/receiver.ts'
import { listenTo } from '../../support/socket.ts'
import { FROM, type World, createWorld } from '../../support/world.ts'

const setEvents = (world: World, events: readonly string[], key = world.key, appId = world.app.appId) =>
  world.call('PUT', `/v1/apps/${appId}/webhook-events`, { key, body: { events } })

test('sent and failed are posted to the app that sent the message, with the fields of the WebSocket event', async () => {
  await using receiver = startReceiver()
  await using others = startReceiver()
  await using world = await createWorld()
  const second = await world.secondApp(others.url)
  await setWebhookUrl(world, receiver.url)
  expect((await setEvents(world, ['sms_status'])).status).toBe(200)
  await setEvents(world, ['sms_status'], second.apiKey, second.appId)
  await using socket = await listenTo(world.url, { apiKey: world.key })
  const sent = await world.send()
  await world.untilStatus(sent)
  const failed = await world.send({ from: '+15555550177' })
  await world.untilStatus(failed)
  await receiver.received(2)
  await untilNoJobs(world)
  const published = socket.messages.filter(({ status }) => status === 'sent' || status === 'failed')
  expect(receiver.requests.map(({ body }) => body)).toEqual(published)
  expect(receiver.requests.map(({ body }) => body['status'])).toEqual(['sent', 'failed'])
  for (const request of receiver.requests) verifySignatures(request, world.app.webhookSecret)
  expect(others.requests).toEqual([])
  expect(await attempts(world)).toMatchObject(
    [failed, sent].map((messageId) => ({
      messageId,
      deliveryId: `${messageId}:${world.app.appId}:sms_status`,
      kind: 'app',
      outcome: 'success',
      attemptNumber: 1,
    })),
  )
  expect((await world.json('GET', `/v1/webhook-deliveries?messageId=${sent}`)).body).toMatchObject({ total: 1 })
})

test('without a subscription, nothing is posted for outbound messages and no job is created', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld({ work: false })
  await setWebhookUrl(world, receiver.url)
  const id = await world.send()
  await world.call('DELETE', `/v1/sms/${id}`)
  const { rows } = await world.gateway.database.gate.execute("SELECT kind FROM jobs WHERE kind = 'webhook'")
  expect(rows).toEqual([])
})

test('a cancelled message is posted as failed', async () => {
  await using receiver = startReceiver()
  await using world = await createWorld({ env: { FROM_LIMIT_PER_MINUTE: '1' } })
  await setWebhookUrl(world, receiver.url)
  await setEvents(world, ['sms_status'])
  await world.untilStatus(await world.send())
  const waiting = await world.send()
  expect((await world.call('DELETE', `/v1/sms/${waiting}`)).status).toBe(200)
  await receiver.received(2)
  expect(receiver.requests[1]?.body).toMatchObject({ status: 'failed', error: 'Cancelled before sending' })
})

test('an app that is not subscribed to inbound messages gets none, but triggers do', async () => {
  await using receiver = startReceiver()
  await using triggered = startReceiver()
  await using world = await createWorld()
  await setWebhookUrl(world, receiver.url)
  await world.json('POST', '/v1/triggers', { body: { callbackUrl: triggered.url } })
  await setEvents(world, [])
  await world.control.injectSms({ text: 'to the trigger alone' })
  await triggered.received(1)
  await untilNoJobs(world)
  expect(receiver.requests).toEqual([])
  await setEvents(world, ['sms_inbound'])
  await world.control.injectSms({ text: 'to both' })
  await receiver.received(1)
})

test('a status delivery is redelivered with the same body and a new signature', async () => {
  await using receiver = startReceiver(500)
  await using world = await createWorld()
  await setWebhookUrl(world, receiver.url)
  await setEvents(world, ['sms_status'])
  await setRetryPolicy(world, 'none')
  const id = await world.send({ from: FROM })
  await receiver.received(1)
  await untilNoJobs(world)
  const deliveryId = `${id}:${world.app.appId}:sms_status`
  const answer = await world.json('POST', `/v1/webhook-deliveries/${encodeURIComponent(deliveryId)}/redeliver`)
  expect(answer).toEqual({ status: 202, body: { deliveryId, attemptNumber: 2 } })
  await receiver.received(2)
  expect(receiver.requests[1]?.raw).toBe(String(receiver.requests[0]?.raw))
})
