import { expect, test } from 'bun:test'
import { sharedBrowser } from '../support/browser-context.ts'
import { wsUrl } from '../support/socket.ts'
import { FROM, createWorld } from '../support/world.ts'

/** A page of another origin, like the page of a customer. */
const PAGE = `<!doctype html><title>Inbox</title><ul id="messages"></ul><script>
  const { hash } = location
  const [url, token] = hash.slice(1).split('|')
  const socket = new WebSocket(url)
  socket.onopen = () => socket.send(JSON.stringify({ type: 'auth', token }))
  const show = (text) => { const item = document.createElement('li'); item.textContent = text; document.querySelector('#messages').append(item) }
  // The page does not catch up, so it ignores cursors.
  socket.onmessage = ({ data }) => JSON.parse(data).type === 'cursor' || show(data)
  socket.onclose = ({ code, reason }) => show(JSON.stringify({ closed: code, reason }))
</script>`

test("a browser's native WebSocket authenticates with a token, receives an inbound message, and gets the reason of its close", async () => {
  await using world = await createWorld()
  const site = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(PAGE, { headers: { 'content-type': 'text/html' } }),
  })
  await using stack = new AsyncDisposableStack()
  stack.defer(() => site.stop(true))
  const page = await (await sharedBrowser()).newPage()
  stack.defer(() => page.close())
  const { token } = (await world.json<{ token: string }>('POST', '/v1/ws/token')).body

  const shown = async (count: number): Promise<unknown[]> => {
    await page.locator(`#messages li:nth-child(${count})`).waitFor({ timeout: 10_000 })
    return (await page.locator('#messages li').allTextContents()).map((text) => JSON.parse(text) as unknown)
  }
  await page.goto(`${site.url.href}#${wsUrl(world.url)}|${token}`)
  expect(await shown(1)).toEqual([{ type: 'auth_ok' }])
  const { messageId, extensionId } = await world.control.injectSms({
    from: '+15555550177',
    to: FROM,
    text: 'Grüße <b>🌍</b>',
  })
  expect((await shown(2))[1]).toEqual({
    type: 'sms_inbound',
    messageId: expect.stringMatching(/^msg_[0-9a-f]{12}$/),
    from: '+15555550177',
    to: FROM,
    body: 'Grüße <b>🌍</b>',
    rcMessageId: messageId,
    tenantId: world.tenantId,
    timestamp: expect.stringMatching(/Z$/),
    receivingExtensionId: extensionId,
  })

  await page.reload()
  expect(await shown(2)).toEqual([
    { type: 'auth_error', error: 'Invalid or expired token' },
    { closed: 1008, reason: 'Invalid or expired token' },
  ])
})
