import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { openConsole } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { startReceiver } from '../support/receiver.ts'
import { FROM, type World, createWorld } from '../support/world.ts'

/** Longer than everything else that a test waits for. */
const LATE_MS = 1500

test('of two apps that are chosen in the switcher, the console acts as the last, whichever answer comes first', async () => {
  await using world = await createWorld({ outside: true })
  const { appId } = await world.secondApp()
  await using opened = await openAsOperator(world, '/messages')
  const { page } = opened
  await page.locator('.switcher', { hasText: world.app.name }).click()
  const dialog = page.getByRole('dialog', { name: 'Tenant and app' })
  const late = await slowly(page, '**/v1/me', appId)
  await dialog.getByRole('button', { name: 'Second app' }).click()
  await dialog.getByRole('button', { name: world.app.name }).click()
  await dialog.waitFor({ state: 'detached' })
  await late.answered
  await Bun.sleep(200)
  expect(await page.locator('.switcher').innerText()).toContain(world.app.name)
})

test('an app that cannot be acted as leaves the console with the app that it names', async () => {
  await using world = await createWorld({ outside: true })
  const { appId } = await world.secondApp()
  await using opened = await openAsOperator(world, '/messages')
  const { page } = opened
  await opened.quiet()
  await page.route('**/v1/me', (route) => route.fulfill({ status: 503, json: { error: 'Storage unavailable' } }))
  const actedAs: string[] = []
  page.on('request', (request) => {
    if (!request.url().endsWith('/v1/me')) actedAs.push(JSON.stringify(request.headers()))
  })
  await page.locator('.switcher').click()
  const dialog = page.getByRole('dialog', { name: 'Tenant and app' })
  await dialog.getByRole('button', { name: 'Second app' }).click()
  await dialog.getByRole('alert').getByText('The gateway says: Storage unavailable.').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('g')
  await page.keyboard.press('o')
  await page.getByRole('heading', { name: /can send and receive/ }).waitFor()
  expect(await page.locator('.switcher').innerText()).toContain(world.app.name)
  expect(actedAs.filter((headers) => headers.includes(appId))).toEqual([])
})

test('a tenant that was left before its apps were read is not entered later', async () => {
  await using world = await createWorld({ outside: true })
  const { tenantId } = await world.otherTenant('Slow Street')
  await world.otherTenant('Quick Street')
  await using opened = await openAsOperator(world, '/all')
  const { page } = opened
  const link = (name: string) => page.getByRole('rowheader').getByRole('link', { name })
  await link('Slow Street').waitFor()
  const late = await slowly(page, `**/v1/operator/apps?tenantId=${tenantId}`)
  const asked = page.waitForRequest(`**/v1/operator/apps?tenantId=${tenantId}`)
  await link('Slow Street').click()
  await asked
  await page.goBack()
  await link('Quick Street').click()
  await page.locator('.switcher', { hasText: 'Quick Street' }).waitFor()
  await late.answered
  await Bun.sleep(500)
  expect(await page.locator('.switcher').innerText()).toContain('Quick Street')
})

test('an extension of a tenant without an active app gets no link, which would connect it to another tenant', async () => {
  await using world = await createWorld({ outside: true })
  await world.otherTenant('Pine Street')
  await change(world, `UPDATE extensions SET status = 'revoked'`)
  await using opened = await openAsOperator(world, '/all')
  const { page, requests } = opened
  await page.getByRole('rowheader').getByRole('link', { name: 'Pine Street' }).click()
  await page.locator('.switcher', { hasText: 'Pine Street' }).waitFor()
  await change(world, `UPDATE apps SET is_active = 0 WHERE tenant_id = '${world.tenantId}'`)
  await page.goBack()
  await page.getByRole('button', { name: 'Authorize again' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Authorize extension 101 again' })
  await dialog.getByText('Its tenant has no active app. Give it one in Setup first.').waitFor()
  expect(await dialog.getByRole('button').allInnerTexts()).toEqual(['Try again', 'Close'])
  expect(requests.filter((path) => path.includes('connect'))).toEqual([])
})

test('a delivery is attempted once by a double click, and counts again if it fails after it was dismissed', async () => {
  await using world = await createWorld()
  await using receiver = startReceiver(500)
  await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
  await world.control.injectSms({ to: FROM, from: '+15555550177', text: 'one' })
  await receiver.received(1)
  await using opened = await openConsole(world.url, { hash: '#/webhooks' })
  const { page, requests } = opened
  await page.locator('.row', { hasText: 'answered 500' }).click()
  await page.getByRole('heading', { name: 'Never arrived, after one attempt' }).waitFor()
  const dismiss = page.getByRole('button', { name: 'Dismiss', exact: true })
  await dismiss.click()
  await page.getByRole('heading', { name: 'Failed after one attempt' }).waitFor()
  const dismissed = page.getByText('It no longer counts as never arrived.')
  await dismissed.waitFor()
  const late = await slowly(page, '**/redeliver')
  await page.getByRole('button', { name: 'Deliver again', exact: true }).dblclick()
  await late.answered
  await page.getByRole('heading', { name: 'Never arrived, after 2 attempts' }).waitFor()
  expect(await dismissed.count()).toBe(0)
  await dismiss.click()
  await page.getByRole('heading', { name: 'Failed after 2 attempts' }).waitFor()
  await dismissed.waitFor()
  expect(requests.filter((path) => path.endsWith('/redeliver'))).toHaveLength(1)
})

test('a person who often comes back to the tab does not use up the requests of the app’s key', async () => {
  await using world = await createWorld()
  await using opened = await openConsole(world.url, { hash: '#/webhooks', key: world.key })
  const { page, requests } = opened
  await opened.quiet()
  const before = requests.length
  for (let times = 0; times < 10; times++) {
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await Bun.sleep(200)
  }
  // Each reading at most once: six requests.
  expect(requests.length - before).toBeLessThanOrEqual(6)
})

test('a reading that began before a tenant was suspended does not show it as active afterwards', async () => {
  await using world = await createWorld()
  await world.otherTenant('Pine Street')
  await using opened = await openConsole(world.url, { hash: '#/tenants' })
  const { page } = opened
  const pine = page.getByRole('listitem', { name: 'Pine Street' })
  await pine.getByText('Active', { exact: true }).waitFor()
  const held = await holdOne(page, '**/v1/operator/tenants?*')
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await held.answered
  await pine.getByRole('button', { name: 'Suspend…' }).click()
  await page.getByRole('button', { name: 'Suspend', exact: true }).click()
  await pine.getByText('Suspended', { exact: true }).waitFor()
  await held.release()
  await Bun.sleep(200)
  expect(await pine.getByText('Suspended', { exact: true }).count()).toBe(1)
})

test('an answer that is older than an event does not take a message back', async () => {
  await using world = await createWorld({ work: false })
  await using opened = await openConsole(world.url, { hash: '#/messages' })
  const { page } = opened
  await page.getByText('No messages yet.').waitFor()
  await opened.quiet()
  const held = await holdOne(page, '**/v1/sms/messages?*')
  const messageId = await world.send({ body: 'taken back' })
  await held.answered
  await world.call('DELETE', `/v1/sms/${messageId}`, { key: world.key })
  await held.release()
  const row = page.locator('.row', { hasText: 'taken back' })
  await row.waitFor()
  await Bun.sleep(200)
  expect(await row.locator('.state').getAttribute('title')).toBe('Cancelled')
})

test('a double click creates one first app, whose key is the one that is shown', async () => {
  await using world = await createWorld({ outside: true })
  await change(world, 'UPDATE apps SET is_active = 0')
  await using opened = await openAsOperator(world, '/messages')
  const { page, requests } = opened
  await page.getByLabel('Name of the app').fill('shop')
  await slowly(page, '**/v1/operator/apps')
  await page.getByRole('button', { name: 'Create app' }).dblclick()
  await page.getByRole('heading', { name: 'shop has a key.' }).waitFor()
  expect(requests.filter((request) => request === 'POST /v1/operator/apps')).toHaveLength(1)
})

/** Calls of an address, of one app if it is named, are answered late. `answered` resolves when the first is. */
async function slowly(page: Page, address: string, appId = ''): Promise<{ answered: Promise<void> }> {
  const { promise: answered, resolve } = Promise.withResolvers<void>()
  await page.route(address, async (route) => {
    const isLate = JSON.stringify(route.request().headers()).includes(appId)
    if (isLate) await Bun.sleep(LATE_MS)
    await route.continue()
    if (isLate) resolve()
  })
  return { answered }
}

async function change(world: World, sql: string): Promise<void> {
  await world.gateway.database.gate.execute(sql)
  world.gateway.directory.forget(world.tenantId)
}

/** Holds the gateway's answer to the next request of an address. `answered`: the gateway has given it. `release`: the page gets it. */
async function holdOne(page: Page, url: string): Promise<{ answered: Promise<void>; release: () => Promise<void> }> {
  const answered = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  await page.route(
    url,
    async (route) => {
      const response = await route.fetch()
      answered.resolve()
      await released.promise
      await route.fulfill({ response })
      arrived.resolve()
    },
    { times: 1 },
  )
  const release = async (): Promise<void> => {
    released.resolve()
    await arrived.promise
  }
  return { answered: answered.promise, release }
}
