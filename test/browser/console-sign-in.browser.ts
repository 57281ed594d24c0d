import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createLink, revokeSessions } from '../../src/operator/session.ts'
import { createApp } from '../../src/operator/apps.ts'
import { setTenantStatus } from '../../src/operator/tenants.ts'
import { expectAccessible, openConsole } from '../support/console.ts'
import { type World, createWorld } from '../support/world.ts'

/** Without the built-in simulator, so that somebody has to sign in. */
const outside = () => createWorld({ outside: true })

test('without a session the page asks for a link or a key, and says what each shows', async () => {
  await using world = await outside()
  await using opened = await openConsole(world.url)
  const { page, complaints } = opened
  await page.getByRole('heading', { name: 'Sign in to this gateway' }).waitFor()
  await page.getByText('You see all tenants and apps.').waitFor()
  await page.getByText("You see the messages of the app's tenant").waitFor()
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

test('what another program left in the browser’s storage keeps neither the page nor the phone from starting', async () => {
  await using world = await createWorld()
  for (const text of ['{', 'null', '"x"']) {
    const prepare = async (page: Page): Promise<void> =>
      void (await page.addInitScript(
        `for (const name of ['sgw.operator', 'sgw.pair']) localStorage.setItem(name, ${JSON.stringify(text)})`,
      ))
    await using opened = await openConsole(world.url, { hash: '#/conversations', prepare })
    await opened.page.getByRole('button', { name: 'Send the first text' }).waitFor()
  }
})

test('the operator’s link signs in once, leaves the address, and serves a second tab', async () => {
  await using world = await outside()
  const hash = await loginOf(world)
  await using opened = await openConsole(world.url, { hash })
  const { page, complaints } = opened
  await page.getByRole('heading', { name: /can send and receive\.$/ }).waitFor()
  expect(page.url()).not.toContain('login')
  const second = await page.context().newPage()
  await second.goto(`${new URL(page.url()).origin}/console/`)
  await second.getByRole('heading', { name: /can send and receive\.$/ }).waitFor()
  expect(complaints).toEqual([])
  await using stranger = await openConsole(world.url, { hash })
  await stranger.page.getByText('This link was already used, or is older than 10 minutes.').waitFor()
})

test('a link pasted into the page signs in, and leads to the view that was asked for', async () => {
  await using world = await outside()
  const login = await loginOf(world)
  await using opened = await openConsole(world.url, { hash: '#/messages?state=failed' })
  const { page } = opened
  await page.getByLabel('Or paste the link here').fill(`${world.url}/console/${login}`)
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByText('No message matches this filter.').waitFor()
  expect(new URL(page.url()).hash).toBe('#/messages?state=failed')
})

test('a session that the operator revokes ends in the page, too', async () => {
  await using world = await outside()
  await using opened = await openConsole(world.url, { hash: await loginOf(world) })
  const { page } = opened
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
  await revokeSessions(world.gateway)
  await page.getByText('The session has ended. Sign in again.').waitFor()
})

test('an app’s key shows the messages of its app first, and is forgotten by the next tab', async () => {
  await using world = await outside()
  const other = await createOtherApp(world, 'Other app')
  await using opened = await openConsole(world.url)
  const { page } = opened
  await page.getByLabel('API key').fill(other.apiKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('No message matches this filter.').waitFor()
  expect(new URL(page.url()).hash).toBe('#/messages?app=Other+app')
  await page.getByRole('button', { name: /^Remove filter app/ }).click()
  await page.getByText('Messages of other apps are not live').waitFor()
  const next = await page.context().newPage()
  await next.goto(`${new URL(page.url()).origin}/console/`)
  await next.getByRole('heading', { name: 'Sign in to this gateway' }).waitFor()
})

test('a wrong key is refused in words, and signing out leaves nothing behind', async () => {
  await using world = await outside()
  await using opened = await openConsole(world.url)
  const { page } = opened
  await page.getByLabel('API key').fill('sgw_wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('The gateway does not know this key').waitFor()
  await page.getByLabel('API key').fill(world.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: /^Tenant and app/ }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to this gateway' }).waitFor()
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('sgw_')
})

test('an operator finds another app by a search, and sees which one is chosen; the choice is remembered', async () => {
  await using world = await outside()
  for (let index = 0; index < 9; index++) await createOtherApp(world, `App ${index}`)
  await createOtherApp(world, 'Other app')
  await using opened = await openConsole(world.url, { hash: await loginOf(world) })
  const { page, complaints } = opened
  await page.getByRole('button', { name: /^Tenant and app/ }).click()
  const dialog = page.getByRole('dialog', { name: 'Tenant and app' })
  await dialog.locator('[aria-pressed=true] .icon').waitFor()
  await dialog.getByLabel('Find a tenant or an app').fill('other')
  expect(await dialog.locator('li').count()).toBe(1)
  await expectAccessible(page)
  await page.keyboard.press('Enter')
  await page.locator('.switcher', { hasText: 'Other app' }).waitFor()
  await page.reload()
  await page.locator('.switcher', { hasText: 'Other app' }).waitFor()
  expect(complaints).toEqual([])
})

const loginOf = async (world: World): Promise<string> => new URL((await createLink(world.gateway)).url).hash

const createOtherApp = (world: World, name: string) =>
  createApp(world.gateway, { tenantId: world.app.tenantId, name, webhookUrl: null, role: 'app' })

test('an operator reads on while the tenant is suspended, and hears events again afterwards', async () => {
  await using world = await outside()
  const { tenantId } = world.app
  await using opened = await openConsole(world.url, { hash: await loginOf(world) })
  const { page } = opened
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
  await setTenantStatus(world.gateway, { tenantId, status: 'suspended' })
  const says = (text: RegExp) => page.locator('.offline-bar', { hasText: text }).waitFor()
  const suspended = /^ ?Suspended since [\d:]+ by the operator: nothing is sent\. ?$/
  await says(suspended)
  await page.reload()
  await page.getByText('No text has arrived yet.').waitFor()
  await says(suspended)
  await setTenantStatus(world.gateway, { tenantId, status: 'inactive' })
  await page.reload()
  await says(/Inactive since [\d:]+ by the operator: nothing is sent\./)
  await setTenantStatus(world.gateway, { tenantId, status: 'active' })
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
})
