import { expect, test } from 'bun:test'
import { listenTo } from '../../support/socket.ts'
import { startReceiver, verifySignatures } from '../../support/receiver.ts'
import { FROM, TO, createWorld, until } from '../../support/world.ts'

test('a subscribed app gets opt-outs by keyword as signed webhooks with the fields of the WebSocket event', async () => {
  await using world = await createWorld()
  await using asked = startReceiver()
  await using silent = startReceiver()
  await world.secondApp(silent.url)
  const app = `/v1/apps/${world.app.appId}`
  await world.call('PUT', app, { body: { webhookUrl: asked.url } })
  const events = { events: ['opt_out'] }
  expect(await world.json('PUT', `${app}/webhook-events`, { body: events })).toEqual({
    status: 200,
    body: { ok: true },
  })
  await using socket = await listenTo(world.url, { apiKey: world.key })
  await world.control.injectSms({ to: FROM, from: TO, text: 'STOP' })
  const [stop] = await asked.received(1)
  await world.call('PUT', '/v1/opt-outs', { body: { number: FROM, contact: TO, optedOut: false } })
  await world.control.injectSms({ to: FROM, from: TO, text: 'STOP' })
  await world.control.injectSms({ to: FROM, from: TO, text: 'START' })
  await until(() => socket.ofType('opt_out').length === 4 && asked.requests.length === 3)
  // An opt-out by an app is not posted to it.
  const received = socket.ofType('opt_out').filter(({ source }) => source === 'keyword')
  // POSTs to one destination may overtake each other.
  const inOneOrder = (all: readonly object[]): string[] => all.map((one) => JSON.stringify(one)).toSorted()
  expect(inOneOrder(asked.requests.map(({ body }) => body))).toEqual(inOneOrder(received))
  verifySignatures(stop!, world.app.webhookSecret)
  expect(stop?.headers['webhook-id']).toMatch(new RegExp(`^msg_[0-9a-f]{12}:${world.app.appId}:opt_out$`))
  expect(silent.requests.map(({ body }) => body['type'])).toEqual(['sms_inbound', 'sms_inbound', 'sms_inbound'])
})
