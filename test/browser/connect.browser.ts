import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { sharedBrowser } from '../support/browser-context.ts'
import { newLink, pressConnect, tokenOf } from '../support/connect-flow.ts'
import { type World, createWorld, until } from '../support/world.ts'

// Browsers apply `form-action` also to the redirect that answers a form, so only a real browser can check the list.

/** Opens the confirmation in a browser. `complaints` collects the errors of the page. */
async function confirming(world: World, work: (page: Page, complaints: string[]) => Promise<void>): Promise<void> {
  const page = await (await sharedBrowser()).newPage()
  try {
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(`${world.gateway.config.publicUrl}${await newLink(world)}`)
    await work(page, complaints)
  } finally {
    await page.close()
  }
}

/** A server that redirects every request. */
function redirectingServer(where: (request: Request) => string) {
  const seen = { visits: 0 }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      if (new URL(request.url).pathname !== '/') return new Response(null, { status: 404 })
      seen.visits++
      return Response.redirect(where(request), 302)
    },
  })
  return Object.assign(seen, { port: server.port, [Symbol.asyncDispose]: () => server.stop(true) })
}

const isPolicy = (complaint: string): boolean => /content security policy/i.test(complaint)

test('on a phone the question stands off the edges of the screen', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await confirming(world, async (page) => {
    await page.setViewportSize({ width: 320, height: 720 })
    const { x, width } = (await page.locator('main').boundingBox()) ?? { x: 0, width: 0 }
    expect([x, width]).toEqual([16, 288])
  })
})

test('the form leads to the provider’s login on another origin and back to the page of success', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await confirming(world, async (page, complaints) => {
    const origins = new Set<string>()
    page.on('request', (request) => origins.add(new URL(request.url()).origin))
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    expect([...origins]).toContain(world.gateway.config.provider.serverUrl)
    expect(new URL(page.url()).pathname).toBe('/v1/rc/callback')
    expect(complaints.filter(isPolicy)).toEqual([])
  })
  expect(await (await world.call('GET', '/v1/rc/status')).json()).toMatchObject({ connected: true })
})

test('the login may redirect to further hosts, as single sign-on does', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const { provider } = world.gateway
  const authorizeUrl = provider.authorizeUrl
  await using sso = redirectingServer((request) => new URL(request.url).searchParams.get('to') ?? '')
  await using login = redirectingServer(
    (request) => `http://sso.localhost:${sso.port}/?to=${new URL(request.url).searchParams.get('to')}`,
  )
  provider.authorizeUrl = (request) =>
    `http://login.localhost:${login.port}/?to=${encodeURIComponent(encodeURIComponent(authorizeUrl(request)))}`
  await confirming(world, async (page, complaints) => {
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
    expect(complaints.filter(isPolicy)).toEqual([])
  })
  expect([sso.visits, login.visits]).toEqual([1, 1])
})

test('a person who returns in another browser is asked to confirm, and connected only after that', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const pressed = await pressConnect(world, tokenOf(await newLink(world)))
  const page = await (await sharedBrowser()).newPage()
  try {
    await page.goto(pressed.headers.get('location') ?? '')
    await page.getByRole('heading', { name: 'Is this your connection?' }).waitFor()
    expect(await (await world.call('GET', '/v1/rc/status')).json()).toEqual({ connected: false })
    await page.getByRole('button', { name: 'Connect to First' }).click()
    await page.getByRole('heading', { name: 'Connected' }).waitFor()
  } finally {
    await page.close()
  }
  expect(await (await world.call('GET', '/v1/rc/status')).json()).toMatchObject({ connected: true })
})

test('a tenant’s name runs no script, and the style of the page applies', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const name = '<script>document.title="owned"</script><img src=x onerror="document.title=\'owned\'">'
  await world.gateway.database.writer.write([
    { sql: 'UPDATE tenants SET name = ?2 WHERE id = ?1', args: [world.tenantId, name] },
  ])
  await confirming(world, async (page, complaints) => {
    expect(await page.title()).toBe('Connect your phone extension')
    expect(await page.locator('b').innerText()).toBe(name)
    expect(await page.locator('script, img').count()).toBe(0)
    expect(await page.locator('main').evaluate((element) => element.getBoundingClientRect().width)).toBeLessThanOrEqual(
      560,
    )
    expect(complaints.filter(isPolicy)).toEqual([])
  })
})

test('the browser stops the form if form-action lacks the provider', async () => {
  await using world = await createWorld({ connect: false, work: false })
  await confirming(world, async (page, complaints) => {
    await page.route('**/v1/rc/connect?*', async (route) => {
      const response = await route.fetch()
      const policy = (response.headers()['content-security-policy'] ?? '').replace(
        /form-action [^;]+/,
        "form-action 'self'",
      )
      await route.fulfill({ response, headers: { ...response.headers(), 'content-security-policy': policy } })
    })
    await page.reload()
    await page.getByRole('button', { name: 'Connect' }).click()
    expect(await until(() => complaints.some(isPolicy))).toBe(true)
  })
  expect(await (await world.call('GET', '/v1/rc/status')).json()).toEqual({ connected: false })
})
