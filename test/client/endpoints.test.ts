import { expect, test } from 'bun:test'
import { ROUTES } from '../../src/server/app.ts'
import { Sgw } from '../../src/client/client.ts'

test('the client has a method for every endpoint that takes an app’s key', async () => {
  const { sgw, calls } = recordingClient()
  await callEverything(sgw)
  const called = new Set(calls.map(routeOf))
  const endpoints = ROUTES.filter(({ auth }) => auth.startsWith('app'))
  expect([...called].toSorted()).toEqual(endpoints.map(({ method, path }) => `${method} ${path}`).toSorted())
})

async function callEverything(sgw: Sgw): Promise<void> {
  const message = { to: '+15555550199', from: '+15555550100', body: 'Hello' }
  await sgw.sms.send(message)
  await sgw.sms.sendAndWait(message)
  await sgw.sms.notify(message, {})
  await sgw.sms.failures()
  await sgw.sms.preview('Hello')
  await sgw.sms.timeline('msg')
  await sgw.sms.cancel('msg')
  await sgw.sms.upload(new Blob(['x'], { type: 'text/plain' }))
  await sgw.sms.media('media')
  await sgw.sms.deleteMedia('media')
  await sgw.sms.attachments('msg')
  await sgw.sms.attachment('msg', '1')
  await sgw.sms.list().page(1)
  await sgw.apps.list()
  await sgw.apps.register({ name: 'App', tenantId: 'tenant' })
  await sgw.apps.update('app', {})
  await sgw.apps.deactivate('app')
  await sgw.apps.rotateKey('app')
  await sgw.apps.rotateWebhookSecret('app')
  await sgw.apps.testWebhook('app')
  await sgw.apps.retries('app')
  await sgw.apps.setRetries('app', 'short')
  await sgw.apps.events('app')
  await sgw.apps.setEvents('app', [])
  await sgw.triggers.list()
  await sgw.triggers.create({ callbackUrl: 'https://example.com' })
  await sgw.triggers.delete('trigger')
  await sgw.triggers.retries('trigger')
  await sgw.triggers.setRetries('trigger', 'none')
  await sgw.deliveries.list().page(1)
  await sgw.deliveries.redeliver('msg:app')
  await sgw.deliveries.recover({ since: new Date(0) })
  await sgw.deliveries.dismiss({ deliveryIds: ['msg:app'] })
  await sgw.connection.status()
  await sgw.connection.extensions()
  await sgw.connection.health()
  await sgw.connection.connectLink()
  await sgw.connection.inviteLink()
  await sgw.connection.disconnect()
  await sgw.connection.disconnectExtension('1')
  await sgw.optOuts.list().page(1)
  await sgw.optOuts.set({ number: message.from, contact: message.to, optedOut: true })
  await sgw.optOuts.policy()
  await sgw.optOuts.setPolicy('block')
  await sgw.conversations().page(1)
  await sgw.usage()
  await sgw.overview()
  await sgw.eventCursor()
  await sgw.me()
  await firstCalls(sgw)
}

/** `events()` fetches a token, and then a page when its socket has a cursor. */
async function firstCalls(sgw: Sgw): Promise<void> {
  const stop = new AbortController()
  for await (const event of sgw.events({ after: 'cursor', signal: stop.signal })) {
    expect(event).toEqual({ type: 'gap' })
    stop.abort()
  }
}

/** A client whose requests are answered by an object with all members that the client reads. */
function recordingClient(): { sgw: Sgw; calls: string[] } {
  const calls: string[] = []
  const answer = { status: 'sent', token: 'wst_', events: [], cursor: 'cursor', gap: true, connectUrl: '/' }
  const sgw = new Sgw({
    baseUrl: 'https://sms.example.com',
    apiKey: 'sgw_key',
    WebSocket: AuthenticatedSocket,
    fetch: (url, { method }) => {
      calls.push(`${method} ${new URL(url).pathname}`)
      return Promise.resolve(Response.json(answer))
    },
  })
  return { sgw, calls }
}

/** A socket that is authenticated at once. */
class AuthenticatedSocket {
  addEventListener(type: string, listener: (event: { type: string; data?: unknown }) => void): void {
    if (type === 'message') queueMicrotask(() => listener({ type, data: '{"type":"auth_ok"}' }))
  }

  send(): void {}

  close(): void {}
}

function routeOf(call: string): string {
  const routes = ROUTES.toSorted((a, b) => Number(a.path.includes(':')) - Number(b.path.includes(':')))
  const found = routes.find(({ method, path }) =>
    new RegExp(`^${method} ${path.replaceAll(/:\w+/g, '[^/]+')}$`).test(call),
  )
  if (found === undefined) throw new Error(`There is no endpoint for ${call}`)
  return `${found.method} ${found.path}`
}
