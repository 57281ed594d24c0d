import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createTenant } from '../../src/operator/tenants.ts'
import { expectAccessible, openConsole } from '../support/console.ts'
import { createWorld } from '../support/world.ts'

test('an extension is connected by the console, revoked at RingCentral, and authorized again', async () => {
  await using world = await createWorld({ connect: false })
  await using opened = await openConsole(world.url, { hash: '#/numbers' })
  const { page, complaints, requests } = opened
  await page.getByRole('heading', { name: 'No number is connected yet.' }).waitFor()
  expect(requests.length).toBeLessThanOrEqual(12)
  await expectAccessible(page)
  await page.locator('.rail-count.bad', { hasText: '1 needs a number' }).waitFor()
  await authorize(page, 'Connect an extension')
  await page.getByRole('heading', { name: 'Both numbers can send and receive.' }).waitFor()
  await page.locator('.rail-count').waitFor({ state: 'detached' })
  for (const { extensionId } of world.control.extensions()) world.control.revokeTokens({ extensionId })
  await world.untilStatus(await world.send())
  await comeBack(page)
  await page.getByRole('heading', { name: /was revoked: .* cannot send or receive/ }).waitFor()
  await page.locator('.thing', { hasText: 'its messages fail until its owner authorizes it again.' }).waitFor()
  await expectAccessible(page)
  await authorize(page, 'Authorize again')
  await page.getByRole('heading', { name: 'Both numbers can send and receive.' }).waitFor()
  await world.untilStatus(await world.send(), ['sent'])
  await page.getByRole('button', { name: 'Disconnect…' }).click()
  await page.getByRole('dialog').getByText('can then neither send nor receive').waitFor()
  await page.getByRole('button', { name: 'Disconnect', exact: true }).click()
  await page.getByRole('heading', { name: 'No number is connected yet.' }).waitFor()
  expect(complaints).toEqual([])
})

test('a number that sends no pictures says so, and no other one does', async () => {
  await using world = await createWorld({ connect: false })
  const [{ extensionId } = { extensionId: '' }] = world.control.extensions()
  world.control.addNumber({ extensionId, phoneNumber: '+18885550100' })
  await world.connect()
  await using opened = await openConsole(world.url, { hash: '#/numbers' })
  const { page, complaints } = opened
  await page.getByRole('heading', { name: 'All 3 numbers can send and receive.' }).waitFor()
  const textOnly = page.locator('.thing-numbers > span', { hasText: 'no pictures' })
  expect(await textOnly.count()).toBe(1)
  expect(await textOnly.textContent()).toContain('888')
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

test('a number says the tier of its campaign, and one that cannot send why', async () => {
  await using world = await createWorld({ connect: false })
  const [{ extensionId } = { extensionId: '' }] = world.control.extensions()
  const campaigns = [
    { status: 'Submitted', tier: 'LowVolume' },
    { status: 'CampaignSuspended', tier: 'StandardVolume' },
    null,
  ]
  for (const [at, campaign] of campaigns.entries())
    world.control.addNumber({ extensionId, phoneNumber: `+1555555017${at}`, campaign })
  await world.connect()
  await using opened = await openConsole(world.url, { hash: '#/numbers' })
  const { page, complaints } = opened
  await page.getByText('cannot send: campaign suspended').waitFor()
  expect(await page.locator('.thing-numbers > span').allTextContents()).toEqual([
    '+15555550100LowVolume, 6,000 a day',
    '+15555550101LowVolume, 6,000 a day',
    '+15555550170cannot send: campaign submitted, not yet approved (LowVolume, 6,000 texts a day over all its numbers)',
    '+15555550171cannot send: campaign suspended (StandardVolume)',
    '+15555550172cannot send: in no campaign',
  ])
  await page.locator('.thing .why', { hasText: '+15555550171: campaign suspended (StandardVolume).' }).waitFor()
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

test('an app is created, its key is shown once and works, and stops working when it is rotated or deactivated', async () => {
  await using world = await createWorld()
  await using opened = await openConsole(world.url, { hash: '#/numbers', theme: 'dark' })
  const { page, complaints } = opened
  await page.getByRole('heading', { name: 'Both numbers can send and receive.' }).waitFor()
  // By the keyboard alone.
  await page.keyboard.press('g')
  await page.keyboard.press('a')
  await page.getByRole('heading', { name: /^First app is active/ }).waitFor()
  await page.getByRole('button', { name: 'Create app' }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.type('shop')
  await page.keyboard.press('Enter')
  const secret = page.getByRole('dialog', { name: 'shop has a new key' })
  const lines = await secret.locator('.mono').innerText()
  expect(lines).toMatch(/^SGW_KEY=\S{20,}\nSGW_WEBHOOK_SECRET=whsec_\S+$/)
  await page.mouse.click(4, 4)
  await page.keyboard.press('Escape')
  await secret.waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await secret.waitFor({ state: 'detached' })
  const key = /SGW_KEY=(\S+)/.exec(lines)?.[1] ?? ''
  expect((await world.call('GET', '/v1/me', { key })).status).toBe(200)

  const shop = page.getByRole('listitem', { name: 'shop' })
  await shop.getByRole('button', { name: 'Rotate key…' }).click()
  await page
    .getByRole('dialog')
    .getByText(/shop used it .* ago\.|shop has never used it\./)
    .waitFor()
  await page.getByRole('button', { name: 'Rotate key', exact: true }).click()
  const rotated = /SGW_KEY=(\S+)/.exec(await secret.locator('.mono').innerText())?.[1] ?? ''
  await page.getByRole('button', { name: 'I have saved it' }).click()
  expect((await world.call('GET', '/v1/me', { key })).status).toBe(401)
  expect((await world.call('GET', '/v1/me', { key: rotated })).status).toBe(200)
  expect(await page.content()).not.toContain(rotated)
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Rotate key…')

  await shop.getByRole('button', { name: 'Deactivate…' }).click()
  await page.getByRole('button', { name: 'Deactivate', exact: true }).click()
  await shop.getByText('Inactive').waitFor()
  expect((await world.call('GET', '/v1/me', { key: rotated })).status).toBe(401)
  await shop.getByRole('button', { name: 'Activate…' }).click()
  await page.getByRole('button', { name: 'Activate', exact: true }).click()
  const again = /SGW_KEY=(\S+)/.exec(await secret.locator('.mono').innerText())?.[1] ?? ''
  expect((await world.call('GET', '/v1/me', { key: again })).status).toBe(200)
  expect(complaints).toEqual([])
})

test('an app’s key rotates itself without losing the new key, and cannot touch other apps or tenants', async () => {
  await using world = await createWorld()
  await world.secondApp()
  await using opened = await openConsole(world.url, { hash: '#/apps', key: world.key, width: 390, height: 844 })
  const { page } = opened
  const own = page.getByRole('listitem', { name: 'First app' })
  await own.waitFor()
  expect(await page.getByRole('button', { name: 'Rotate key…' }).count()).toBe(1)
  expect(await page.getByRole('link', { name: 'Tenants' }).count()).toBe(0)
  await own.getByRole('button', { name: 'Rotate key…' }).click()
  await page.getByRole('button', { name: 'Rotate key', exact: true }).click()
  const secret = page.getByRole('dialog', { name: 'First app has a new key' })
  const key = /SGW_KEY=(\S+)/.exec(await secret.locator('.mono').innerText())?.[1] ?? ''
  expect((await world.call('GET', '/v1/me', { key })).status).toBe(200)
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await own.waitFor()
  await expectAccessible(page)
  await page.evaluate(`location.hash = '#/tenants'`)
  await page.getByRole('heading', { name: 'Only an operator sees all tenants.' }).waitFor()
  await page.evaluate(`location.hash = '#/apps'`)
  await own.getByRole('button', { name: 'Deactivate…' }).click()
  await page.getByRole('dialog').getByText('Only an operator can activate it again.').waitFor()
  await page.getByRole('button', { name: 'Deactivate', exact: true }).click()
  await page.getByText('First app is inactive, and its key no longer works.').waitFor()
  expect((await world.call('GET', '/v1/me', { key })).status).toBe(401)
})

test('a tenant is created with an app, suspended, and active again', async () => {
  await using world = await createWorld()
  await using opened = await openConsole(world.url, { hash: '#/tenants' })
  const { page, complaints } = opened
  await page.getByRole('heading', { name: 'One tenant is active.' }).waitFor()
  await page.getByRole('button', { name: 'Create tenant' }).click()
  await page.getByLabel('Name of the tenant').fill('Pine')
  await page.keyboard.press('Enter')
  const pine = page.getByRole('listitem', { name: 'Pine' })
  await pine.getByRole('button', { name: 'Create app' }).click()
  await page.getByLabel('Name of the app').fill('pine-app')
  await page.keyboard.press('Enter')
  const secret = page.getByRole('dialog', { name: 'pine-app has a new key' })
  const key = /SGW_KEY=(\S+)/.exec(await secret.locator('.mono').innerText())?.[1] ?? ''
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await pine.getByRole('button', { name: 'Suspend…' }).click()
  await page.getByRole('dialog').getByText('The key of its app is refused at once').waitFor()
  await page.getByRole('button', { name: 'Suspend', exact: true }).click()
  await page.getByRole('heading', { name: 'Pine is suspended: its messages wait, and its keys are refused.' }).waitFor()
  expect((await world.call('GET', '/v1/me', { key })).status).toBe(403)
  await expectAccessible(page)
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  expect(await page.evaluate<string>('document.activeElement.ariaLabel')).toBe('Pine')
  await pine.getByRole('button', { name: 'Activate…' }).click()
  await page.getByRole('button', { name: 'Activate', exact: true }).click()
  await page.getByRole('heading', { name: 'Both tenants are active.' }).waitFor()
  expect((await world.call('GET', '/v1/me', { key })).status).toBe(200)
  expect(complaints).toEqual([])
})

test('more tenants that could not be loaded say why, and are there when it is tried again', async () => {
  await using world = await createWorld()
  for (let index = 0; index < 101; index++) await createTenant(world.gateway, { name: `Tenant ${index}` })
  await using opened = await openConsole(world.url, { hash: '#/tenants' })
  const { page } = opened
  const more = page.getByRole('button', { name: 'Load more of 102' })
  await more.waitFor()
  await page.route('**/v1/operator/tenants?page=2*', (route) =>
    route.fulfill({ status: 429, json: { error: 'Too many requests' } }),
  )
  await more.click()
  await page.getByRole('alert').getByText('The gateway says: Too many requests.').waitFor()
  await page.unroute('**/v1/operator/tenants?page=2*')
  await more.click()
  await page.getByRole('listitem', { name: 'Tenant 100' }).waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})

/** Authorizes in the tab that the dialog opens, and comes back. */
async function authorize(page: Page, button: string): Promise<void> {
  await page.getByRole('button', { name: button }).click()
  const opening = page.context().waitForEvent('page')
  await page.getByRole('link', { name: 'Go to RingCentral' }).click()
  const tab = await opening
  await tab.getByRole('button', { name: 'Connect' }).click()
  await tab.getByRole('heading', { name: 'Connected' }).waitFor()
  await tab.close()
  await comeBack(page)
}

/** A headless tab does not notice that it is looked at again. */
const comeBack = (page: Page): Promise<unknown> =>
  page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
