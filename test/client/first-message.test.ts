import { expect, test } from 'bun:test'
import { Sgw } from '../../src/client/client.ts'
import { FROM, TO, createWorld, until } from '../support/world.ts'

test('a program sends an SMS and hears what becomes of it', async () => {
  await using world = await createWorld()
  const sgw = new Sgw({ baseUrl: world.url, apiKey: world.key })
  const stop = new AbortController()
  const stream = sgw.events({ signal: stop.signal })
  const statuses: string[] = []
  const listening = (async () => {
    for await (const event of stream) if (event.type === 'sms_status') statuses.push(event.status)
  })()
  await until(() => stream.cursor !== undefined)
  const message = await sgw.sms.sendAndWait({ to: TO, from: FROM, body: 'Hello' })
  expect(message).toMatchObject({ status: 'sent', to: TO, from: FROM, body: 'Hello' })
  await until(() => statuses.length === 3)
  stop.abort()
  await listening
  expect(statuses).toEqual(['queued', 'sending', 'sent'])
  expect(await sgw.me()).toMatchObject({ appId: world.app.appId, tenantId: world.tenantId, operator: false })
})
