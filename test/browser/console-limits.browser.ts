import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { pageFiles } from '../../src/console/page-files.ts'
import { createApp } from '../../src/operator/apps.ts'
import { createTenant } from '../../src/operator/tenants.ts'
import { startTestGateway } from '../../src/testing/index.ts'
import { SIZES, expectAccessible, firstLoad, openConsole, openView, show } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { startReceiver } from '../support/receiver.ts'
import { sharedByTests } from '../support/shared.ts'
import { FROM, TO, type World, createWorld } from '../support/world.ts'

// What is weighed is what production serves a moment after its first load.
await (await pageFiles({ isAnew: true })).compressBest()

/** Of bench/README.md. */
const MAX_REQUESTS = 10
const MAX_BYTES = 60_000

test('with five apps and two tenants a view loads with few requests and little data, the answers of the API included', async () => {
  await using world = await createWorld()
  await fillTenants(world)
  await using opened = await openConsole(world.url, { hash: '#/messages' })
  const { page, requests } = opened
  const weight = await weighLoads(page)
  for (const view of ['messages', 'phone']) {
    await openView(page, `/${view}`)
    await page.getByText('text 49').first().waitFor()
    await opened.quiet()
    const before = weight()
    requests.length = 0
    await page.reload()
    await page.getByText('text 49').first().waitFor()
    if (view === 'messages') await page.getByText('App 4').first().waitFor()
    await opened.quiet()
    expect(firstLoad(requests).length, requests.join('\n')).toBeLessThanOrEqual(MAX_REQUESTS)
    expect(weight() - before).toBeLessThanOrEqual(MAX_BYTES)
  }
})

/** The views of production, and what each has when it can be used. */
const VIEWS: readonly [view: string, shown: string][] = [
  ['/overview', '.figure'],
  ['/messages', '.row'],
  ['/messages?state=failed', '.row'],
  ['/conversations', '.row'],
  [`/conversations?${new URLSearchParams({ number: FROM, contact: TO })}`, '.said'],
  ['/webhooks', '.row'],
  ['/numbers', '.thing'],
  ['/apps', '.thing'],
  ['/tenants', '.thing'],
]

/** An operator's page of a gateway in the form of production, with everything that its views list. */
const inProduction = sharedByTests(async (stack) => {
  const world = stack.use(await createWorld({ outside: true }))
  const receiver = stack.use(startReceiver(500))
  await world.json('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: `${receiver.url}/sms` } })
  await fillTenants(world)
  await world.send({ from: '+15555550999', body: 'from nowhere' })
  await world.control.injectSms({ from: TO, to: FROM, text: 'Thank you' })
  await receiver.received(1)
  const opened = stack.use(await openAsOperator(world, '/overview'))
  await opened.quiet()
  return { ...opened, weight: await weighLoads(opened.page) }
})

for (const [view, shown] of VIEWS)
  test(`in production ${view.replace(/=.*&.*/, '')} loads with its data in few requests and little weight`, async () => {
    const { page, requests, quiet, weight } = await inProduction()
    // Nothing of the view is loaded before it is counted.
    await page.evaluate(`history.replaceState(null, '', '#${view}')`)
    const before = weight()
    requests.length = 0
    await page.reload()
    await page.locator(shown).first().waitFor()
    await quiet()
    expect(firstLoad(requests).length, requests.join('\n')).toBeLessThanOrEqual(MAX_REQUESTS)
    expect(weight() - before).toBeLessThanOrEqual(MAX_BYTES)
  })

/** Five apps of two tenants, and a list of texts whose page is full. */
async function fillTenants(world: World): Promise<void> {
  const { gateway, app } = world
  const other = await createTenant(gateway, { name: 'Other tenant' })
  const make = (tenantId: string, name: string) => createApp(gateway, { tenantId, name, webhookUrl: null, role: 'app' })
  const apps = [
    app,
    await make(app.tenantId, 'App 2'),
    await make(app.tenantId, 'App 3'),
    await make(app.tenantId, 'App 4'),
  ]
  await make(other.tenantId, 'App 5')
  for (let index = 0; index < 50; index++)
    await world.json('POST', '/v1/sms/send', {
      key: apps[index % apps.length]?.apiKey ?? '',
      body: { from: FROM, to: TO, body: `Reminder: your appointment is tomorrow at 15:00, text ${index}` },
    })
}

/** Counts the bytes that come over the network from now on, headers included; nothing comes from the browser's cache. */
async function weighLoads(page: Page): Promise<() => number> {
  const session = await page.context().newCDPSession(page)
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => void (bytes += encodedDataLength))
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  return () => bytes
}

for (const [count, maxBytes] of [
  [50, MAX_BYTES],
  [500, 100_000],
] as const)
  test(`the page of all tenants loads with few requests and little data, with ${count} of them`, async () => {
    await using world = await createWorld({ outside: true })
    await fillAll(world, count)
    await using opened = await openAsOperator(world, '/all')
    const { page, requests } = opened
    const rows = page.locator('.tenants tbody [aria-rowindex]')
    await rows.first().waitFor()
    await opened.quiet()
    const weight = await weighLoads(page)
    requests.length = 0
    await page.reload()
    await rows.first().waitFor()
    await opened.quiet()
    expect(firstLoad(requests).length, requests.join('\n')).toBeLessThanOrEqual(MAX_REQUESTS)
    expect(weight()).toBeLessThanOrEqual(maxBytes)
    expect(await rows.count()).toBeLessThan(80)
  })

/** So many tenants with a day of texts, all different. */
async function fillAll({ gateway, tenantId }: World, count: number): Promise<void> {
  const { gate } = gateway.database
  const now = gateway.clock.now()
  const names = Array.from({ length: count - 1 }, (_, index) => `Clinic ${index} of ${now % (index + 7)}`)
  await gate.execute({
    sql: `INSERT INTO tenants (id, name, status, created_at, updated_at)
      SELECT 'tenant_' || lower(hex(randomblob(8))), value, 'active', ?2 + key, ?2 FROM json_each(?1)`,
    args: [JSON.stringify(names), now],
  })
  await gate.execute({
    sql: `WITH RECURSIVE hours(ago) AS (SELECT 0 UNION ALL SELECT ago + 1 FROM hours WHERE ago < 47)
      INSERT INTO usage (tenant_id, half_hour, app_id, latency_ms, accepted, sent, failed, cancelled, received, segments)
      SELECT id, ?1 - ago, 'app_1', 800, 0, abs(random() % 300), abs(random() % 3), 0, abs(random() % 90), 0 FROM tenants, hours WHERE id != ?2`,
    args: [Math.floor(now / 1_800_000), tenantId],
  })
}

test('the page runs nothing inline and cannot be framed', async () => {
  await using gateway = await startTestGateway()
  const { headers } = await fetch(`${gateway.url}/console/`)
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe')
  expect(policy).toContain("frame-ancestors 'none'")
  expect(headers.get('x-frame-options')).toBe('DENY')
})

const withTwoTexts = sharedByTests(async (stack) => {
  const gateway = stack.use(await startTestGateway())
  const [from = ''] = gateway.numbers
  const body = 'Hello there, this is a text that does not fit into a narrow row'
  await gateway.client.sms.sendAndWait({ from, to: TO, body })
  await gateway.client.sms.sendAndWait({ from: '+15555550999', to: TO, body: 'This one cannot be sent at all' })
  return stack.use(await openConsole(gateway.url, { hash: '#/messages' }))
})

for (const [width, height, theme] of SIZES)
  test(`at ${width} × ${height} in ${theme} nothing scrolls sideways, and axe finds nothing`, async () => {
    const { page, complaints } = await withTwoTexts()
    await show(page, [width, height, theme])
    await openView(page, '/messages')
    await page.locator('.row').first().waitFor()
    await expectFits(page)
    await page.locator('.row', { hasText: 'Hello there' }).click()
    await page.getByRole('heading', { name: /^Delivered, known after/ }).waitFor()
    await expectFits(page)
    await openView(page, '/phone')
    await page.locator('.said.outbound').waitFor()
    await page.locator('.step', { hasText: 'delivered' }).first().waitFor()
    await expectFits(page)
    await expectApart(page)
    expect(complaints).toEqual([])
  })

async function expectFits(page: Page): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
  await expectAccessible(page)
}

/** The steps and the phone stand beside or under each other. */
async function expectApart(page: Page): Promise<void> {
  const overlap = `(() => {
    const [a, b] = ['.trace', '.handset'].map((name) => document.querySelector(name).getBoundingClientRect())
    return Math.min(a.right, b.right) > Math.max(a.left, b.left) && Math.min(a.bottom, b.bottom) > Math.max(a.top, b.top)
  })()`
  expect(await page.evaluate(overlap)).toBe(false)
}
