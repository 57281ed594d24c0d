import { expect, test } from 'bun:test'
import { type Page, chromium } from 'playwright-core'
import { browserOptions } from '../support/browser.ts'
import { newLink } from '../support/connect-flow.ts'
import { type World, createWorld, until } from '../support/world.ts'

// Browsers hold `form-action` against the redirect that answers a form, too: only a real one tells whether the list is right.

/** Opens the confirmation in a browser; what the page complains about is in `complaints`. */
async function confirming(world: World, work: (page: Page, complaints: string[]) => Promise<void>): Promise<void> {
  const browser = await chromium.launch(browserOptions())
  try {
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    await page.goto(`${world.url}${await newLink(world)}`)
    await work(page, complaints)
  } finally {
    await browser.close()
  }
}

const isPolicy = (complaint: string): boolean => /content security policy/i.test(complaint)

test('the form leads through the provider’s login, on another origin, and back to a page that says so', async () => {
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

test('a tenant’s name is text: no script of it runs, and the style does apply', async () => {
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

test('without the provider in form-action the browser would stop: the test above can fail', async () => {
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
