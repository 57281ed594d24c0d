import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import type { Alert } from '../../src/console/page/state/alert.ts'
import { createLink } from '../../src/operator/session.ts'
import { expectAccessible, firstLoad, openConsole } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { createWorld, until } from '../support/world.ts'

/** Of bench/README.md. */
const MAX_REQUESTS = 10

test('in production the operator begins with what is wrong, and opens the system’s checks', async () => {
  await using world = await createWorld({ outside: true })
  await using opened = await openConsole(world.url, { hash: new URL((await createLink(world.gateway)).url).hash })
  const { page, complaints, requests } = opened
  await page.getByRole('heading', { name: /can send and receive\.$/ }).waitFor()
  expect(new URL(page.url()).hash).toBe('#/overview')
  await page.getByText('no backup').waitFor()
  await page.getByRole('button', { name: 'Show checks' }).click()
  await page.getByText(/checks (pass|needs? attention)\.$/).waitFor()
  await page.locator('.checks b', { hasText: 'database' }).waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Hide checks' }).waitFor()
  requests.length = 0
  await page.reload()
  await page.getByText('no backup').waitFor()
  await opened.quiet()
  expect(firstLoad(requests).length, requests.join('\n')).toBeLessThanOrEqual(MAX_REQUESTS)
  expect(complaints).toEqual([])
})

test('a trouble of the gateway itself leads to the checks that say why', async () => {
  await using world = await createWorld({ outside: true })
  const what = 'The backup of /data/sgw.db has been behind for 10800 s'
  const fix = 'Keep the volume until the backup has caught up.'
  const alert = {
    alert: 'backup_behind',
    subject: 'gateway',
    text: `${what}. ${fix}`,
    what,
    fix,
    since: new Date(Date.now() - 10_800_000).toISOString(),
    detail: { lagSeconds: 10_800 },
  } satisfies Alert
  const alerts = [alert]
  const prepare = async (page: Page): Promise<void> =>
    void (await page.route('**/v1/operator/alerts', (route) => route.fulfill({ json: { alerts } })))
  await using opened = await openAsOperator(world, '/overview', { width: 390, height: 844, prepare })
  const { page } = opened
  await page.getByRole('heading', { name: 'The backup is 3 h behind.' }).waitFor()
  await page.getByText(fix).waitFor()
  await page.getByRole('button', { name: 'Show the checks' }).click()
  const backup = page.locator('.checks li', { hasText: 'backup' })
  await backup.waitFor()
  const topOfChecks = async (): Promise<number> => (await page.locator('.checks').boundingBox())?.y ?? Infinity
  expect(await topOfChecks()).toBeLessThan(844)
  await page.setViewportSize({ width: 390, height: 400 })
  const again = page.getByRole('button', { name: 'Show the checks' })
  await again.evaluate((button) => button.scrollIntoView({ block: 'start' }))
  await until(async () => (await topOfChecks()) > 400)
  await again.click()
  await until(async () => (await topOfChecks()) < 400)
  await page.getByRole('button', { name: 'Hide checks' }).click()
  await backup.waitFor({ state: 'detached' })
})

test('without a number the view says so first, and leads to the consent', async () => {
  await using world = await createWorld({ connect: false })
  await using opened = await openConsole(world.url, { hash: '#/overview' })
  const { page, complaints } = opened
  await page.getByRole('heading', { name: 'No number is connected yet.' }).waitFor()
  expect(await page.locator('.wire-line.bad-line').allInnerTexts()).toEqual(['no number', 'no number'])
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.waitForURL((url) => !url.pathname.startsWith('/console/'))
  expect(complaints).toEqual([])
})

test('an incident stands in the sentence, on the wire, in a row with its button, in the figures and the tables', async () => {
  await using world = await createWorld()
  await world.send()
  await using opened = await openConsole(world.url, { hash: '#/overview' })
  const { page, complaints } = opened
  await incident(page)
  await page.reload()
  await page.getByRole('heading', { name: /^17 messages wait: RingCentral paused the extension until / }).waitFor()
  expect(await page.locator('.wire-line:is(.warn-line, .bad-line)').allInnerTexts()).toEqual(['14 failed', '17 wait'])
  const needs = page.locator('.needs li')
  await needs
    .filter({ hasText: 'shop.example answers 500: 14 attempts failed.' })
    .getByRole('link', { name: 'Show its deliveries' })
    .waitFor()
  // What fires for another tenant stands on the page of all tenants.
  expect(await needs.filter({ hasText: 'Harbor Clinic' }).count()).toBe(0)
  await page.locator('.figure', { hasText: 'Waiting' }).getByText('17').waitFor()
  await page.getByRole('group', { name: /^48 bars of 30 min\. The most/ }).waitFor()
  await page.getByRole('cell', { name: /^The number cannot receive texts/ }).waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Show what waits' }).first().click()
  expect(new URL(page.url()).hash).toBe('#/messages?state=waiting')
  expect(complaints).toEqual([])
})

test('what stands on the wire takes one line, above its icon', async () => {
  await using world = await createWorld()
  await world.gateway.database.gate.execute("UPDATE extensions SET status = 'revoked'")
  world.gateway.directory.forget(world.tenantId)
  for (const width of [1300, 1100, 920]) {
    await using opened = await openConsole(world.url, { hash: '#/overview', width, height: 900 })
    const { page } = opened
    const broken = page.locator('.wire-line.bad-line', { hasText: 'cannot receive' })
    await broken.waitFor()
    const [line, text] = [await broken.boundingBox(), await broken.locator('span').first().boundingBox()]
    expect([width, (text?.height ?? 99) < 24, (text?.width ?? 0) <= (line?.width ?? 0)]).toEqual([width, true, true])
  }
})

test('30 days are the usage, with a table and a file; the keys lead here; on a phone nothing scrolls sideways', async () => {
  await using world = await createWorld()
  await world.untilStatus(await world.send())
  await using opened = await openConsole(world.url, { hash: '#/messages', width: 360, height: 740 })
  const { page, complaints } = opened
  await page.locator('.row').first().waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('o')
  await page.getByRole('button', { name: '30 d' }).click()
  expect(new URL(page.url()).hash).toBe('#/overview?range=30d')
  await page.getByRole('region', { name: 'The last 30 days' }).waitFor()
  await page.locator('.system').scrollIntoViewIfNeeded()
  const today = { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' } as const
  const day = new Date().toLocaleDateString('en-GB', today).replace(',', '')
  await page.getByRole('cell', { name: day }).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
  expect(
    await page.evaluate('document.querySelector("main").scrollWidth - document.querySelector("main").clientWidth'),
  ).toBe(0)
  await expectAccessible(page)
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download CSV' }).click(),
  ])
  expect(await Bun.file(await file.path()).text()).toStartWith('date,appId,app,sent,failed,received,segments,media\r\n')
  expect(complaints).toEqual([])
})

test('an app’s key asks for nothing of an operator’s; what cannot be read says so and is read again, what was known stays', async () => {
  await using world = await createWorld({ outside: true })
  await using opened = await openConsole(world.url, { hash: '#/overview', key: world.key })
  const { page, requests } = opened
  await page.getByRole('heading', { name: /can send and receive\.$/ }).waitFor()
  await page.route('**/v1/overview?*', (route) => route.fulfill({ status: 400, json: { error: 'Broken' } }))
  await page.getByRole('button', { name: '7 d' }).click()
  await page.getByText(/^The gateway says: Broken\. Below is what was known at /).waitFor()
  await page.getByRole('heading', { name: /can send and receive\.$/ }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'The overview could not be loaded.' }).waitFor()
  await page.unroute('**/v1/overview?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: /can send and receive\.$/ }).waitFor()
  await page.locator('.system').scrollIntoViewIfNeeded()
  expect(await page.getByRole('button', { name: 'Show checks' }).count()).toBe(0)
  expect(requests.filter((path) => path.includes('/operator/'))).toEqual([])
})

/** What would take minutes to come about: a pause, a webhook that has failed for long, a second tenant in trouble. */
async function incident(page: Page): Promise<void> {
  const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString()
  await page.route('**/v1/overview?*', async (route) => {
    const response = await route.fetch()
    const known = (await response.json()) as object
    const waiting = [{ reason: 'provider_paused', count: 17, since: minutesAgo(4), began: null, until: minutesAgo(-6) }]
    const destination = {
      url: 'https://shop.example/hook',
      kind: 'app',
      appId: 'app_1',
      success: 374,
      failed: 14,
      p95Ms: 4900,
      neverArrived: 0,
      neverArrivedSince: null,
    }
    const failing = { failingSince: minutesAgo(28), failures: 14, lastOutcome: 'http_error', lastStatusCode: 500 }
    const errors = [{ error: 'The number cannot receive texts', count: 8, lastAt: minutesAgo(6) }]
    await route.fulfill({
      response,
      json: { ...known, waiting, errors, destinations: [{ ...destination, ...failing }] },
    })
  })
  const what = 'The webhook of app app_9 of tenant_2 has failed for an hour'
  const fix = 'sgw webhooks list --app app_9 shows the errors.'
  const failing = {
    alert: 'webhook_failing',
    subject: 'app_9',
    text: `${what}. ${fix}`,
    what,
    fix,
    since: minutesAgo(50),
    tenantId: 'tenant_2',
    tenantName: 'Harbor Clinic',
    detail: {},
  } satisfies Alert
  await page.route('**/v1/operator/alerts', (route) => route.fulfill({ json: { alerts: [failing] } }))
}
