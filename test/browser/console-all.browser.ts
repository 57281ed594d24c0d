import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { setTenantStatus } from '../../src/operator/tenants.ts'
import { type ShownAll, anIncident, routeAll, tenantOf } from '../support/all-tenants.ts'
import { SIZES, expectAccessible, openConsole, show } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { operate } from '../support/operator.ts'
import { sharedByTests } from '../support/shared.ts'
import { type World, createWorld, until } from '../support/world.ts'

const heading = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('heading', { name }).first().waitFor()
const tenantLink = (page: Page, name: string) => page.getByRole('rowheader').getByRole('link', { name, exact: true })
/** One of the two has no number, or is suspended. */
const NOTHING = 'Nothing needs attention.'
const names = (page: Page): Promise<string[]> => page.locator('.tenant-name').allInnerTexts()

test('an operator of two tenants begins with all of them, opens one, and comes back by Back, a click or a key', async () => {
  await using world = await createWorld({ outside: true })
  await world.otherTenant('Pine Street')
  await using opened = await openAsOperator(world, '')
  const { page, complaints } = opened
  await heading(page, NOTHING)
  expect(new URL(page.url()).hash).toBe('#/all')
  await page.getByRole('button', { name: 'Tenant and app: All tenants 2 tenants, 2 apps' }).waitFor()
  await tenantLink(page, 'Pine Street').click()
  await heading(page, 'No number is connected yet.')
  expect(new URL(page.url()).hash).toBe('#/overview')
  await page.getByRole('button', { name: 'Tenant and app: Pine Street Pine Street app' }).waitFor()
  await page.goBack()
  await heading(page, NOTHING)
  await tenantLink(page, 'First').click()
  await heading(page, /can send and receive\.$/)
  await page.getByRole('navigation', { name: 'Views' }).first().getByRole('link', { name: 'All tenants' }).click()
  await heading(page, NOTHING)
  await page.keyboard.press('g')
  await page.keyboard.press('m')
  await heading(page, 'No messages yet.')
  await page.keyboard.press('g')
  await page.keyboard.press('t')
  await heading(page, NOTHING)
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  expect(await page.evaluate('document.activeElement.textContent')).toBe((await names(page))[1] ?? '')
  await page.getByRole('button', { name: /^Tenant and app/ }).click()
  const panel = page.getByRole('dialog', { name: 'Tenant and app' })
  expect((await panel.locator('li').first().innerText()).split('\n')[0]).toBe('All tenants')
  await panel.getByRole('button', { name: /^Pine Street app/ }).click()
  await heading(page, 'No number is connected yet.')
  expect(complaints).toEqual([])
})

test('with one tenant nothing is different, and an app’s key that is led to all tenants sees its own', async () => {
  await using world = await createWorld({ outside: true })
  await using one = await openAsOperator(world, '')
  await heading(one.page, /can send and receive\.$/)
  expect(new URL(one.page.url()).hash).toBe('#/overview')
  await one.quiet()
  expect(await one.page.getByRole('link', { name: 'All tenants' }).count()).toBe(0)
  await one.page.keyboard.press('g')
  await one.page.keyboard.press('t')
  expect(new URL(one.page.url()).hash).toBe('#/overview')
  await using other = await openConsole(world.url, { hash: '#/all', key: world.key })
  await heading(other.page, /can send and receive\.$/)
  expect(new URL(other.page.url()).hash).toBe('#/overview')
  expect(other.requests.filter((path) => path.includes('/operator/'))).toEqual([])
  expect([...one.complaints, ...other.complaints]).toEqual([])
})

test('a link to a view of a tenant leads there through sign-in, and one to a tenant that is not there says so', async () => {
  await using world = await createWorld({ outside: true })
  const other = await world.otherTenant('Pine Street')
  await using opened = await openAsOperator(world, `/messages?tenant=${other.tenantId}&state=failed`)
  const { page } = opened
  await page.getByRole('button', { name: 'Tenant and app: Pine Street Pine Street app' }).waitFor()
  await until(async () => new URL(page.url()).hash === '#/messages?state=failed')
  await page.goto(`${new URL(page.url()).origin}/console/#/overview?tenant=tenant_0123456789abcdef`)
  await page.getByText('Tenant not found').waitFor()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
})

test('what is wrong stands in the sentence, the rows, the rail and the table; each leads to its tenant', async () => {
  await using world = await createWorld({ outside: true })
  const shown = anIncident(Date.now(), world.tenantId)
  await using opened = await openAsOperator(world, '/all', { prepare: (page) => routeAll(page, () => shown) })
  const { page, complaints } = opened
  await heading(page, 'Harbor Clinic: extension 102 was revoked.')
  await page
    .getByText(
      /^Since .* One more of 7 tenants waits, one is suspended, one has no number; the other three are fine\.$/,
    )
    .waitFor()
  expect(await page.title()).toBe('3 need attention – All tenants – sgw')
  await page.locator('.overview-acts .button').nth(1).waitFor({ timeout: 1000 })
  expect(await page.locator('.overview-acts .button').allInnerTexts()).toEqual([
    'Authorize again',
    'View Harbor Clinic',
  ])
  const needs = page.locator('.needs li')
  expect((await needs.allInnerTexts()).map((text) => text.split('\n')[0])).toEqual([
    'Pine Street Physiotherapy: 41 messages wait.',
    'Harbor Clinic: its webhook fails, 9 deliveries never arrived.',
    'Old Town Garage: suspended by the operator, 2 messages wait until it is active.',
    expect.stringMatching(/^“The backup is 3 h behind\.” Muted in the console until (\d+ \w+ )?\d\d:\d\d\.$/),
  ])
  const rail = page.locator('.rail .rail-item')
  const counts = async (name: string): Promise<string> =>
    (await rail.filter({ hasText: name }).innerText()).replaceAll('\n', ' ')
  expect([await counts('Messages'), await counts('Webhooks'), await counts('Setup')]).toEqual([
    'Messages 60 waiting',
    'Webhooks 9 never arrived',
    'Setup 1 cannot send',
  ])
  const to = async (name: string): Promise<string | null> => rail.filter({ hasText: name }).getAttribute('href')
  expect([await to('Messages'), await to('Webhooks'), await to('Setup'), await to('Conversations')]).toEqual([
    '#/messages?tenant=tenant_2',
    '#/webhooks?tenant=tenant_1',
    '#/numbers?tenant=tenant_1',
    '#/conversations',
  ])
  await page
    .getByRole('row', { name: /^Suspended Old Town Garage.*Suspended by the operator\. 2 messages wait/ })
    .waitFor()
  await page.getByRole('row', { name: /Harbor Clinic.*was revoked\. 17 messages wait\. Its webhook fails\./ }).waitFor()
  expect(
    await page
      .locator('tbody .warn .icon path')
      .evaluateAll((paths) => new Set(paths.map((path) => path.getAttribute('d'))).size),
  ).toBe(2)
  await page
    .getByRole('row', { name: /First.*No number is connected yet\..*–.*–.*–.*–/ })
    .getByRole('link', { name: 'Connect: First' })
    .waitFor()
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

test('only what is at work counts as fine: not what is suspended, deactivated, muted or without a number', async () => {
  await using world = await createWorld({ outside: true })
  const { tenants, alerts } = anIncident(Date.now(), world.tenantId)
  const [revoked, , queue] = alerts
  const mutedUntil = new Date(Date.now() + 3_600_000).toISOString()
  const own = tenantOf(world.tenantId, 'Acme', 12)
  const jwt = { ...revoked, alert: 'jwt_ends', mutedUntil, mutedBy: 'session' }
  const waits = { ...queue, mutedUntil, mutedBy: 'cli' }
  let shown = { tenants: [own, tenantOf('tenant_9', 'Fine', 3)], alerts: [] as ShownAll['alerts'] }
  await using opened = await openAsOperator(world, '/all', { prepare: (page) => routeAll(page, () => shown) })
  const { page } = opened
  await heading(page, 'Both tenants are fine.')
  shown = {
    tenants: tenants.map((tenant) => ({
      ...tenant,
      waiting: tenant.tenantId === 'tenant_2' ? 41 : 0,
      neverArrived: 0,
    })),
    alerts: [jwt, waits] as ShownAll['alerts'],
  }
  await page.reload()
  await heading(page, NOTHING)
  await page
    .getByText('One of 7 tenants is suspended, one has no number, two have a muted alert; the other three are fine.')
    .waitFor()
  await page.getByRole('row', { name: /^Muted Pine Street Physiotherapy.*Muted with sgw alerts mute until / }).waitFor()
  expect(await page.locator('tbody td:is(.of-failed, .of-waiting, .of-lost):is(.warn, .bad)').count()).toBe(0)
  shown = { ...shown, tenants: shown.tenants.map((tenant) => ({ ...tenant, status: 'inactive' })) }
  await page.reload()
  await page.getByText('Seven of 7 tenants are deactivated.').waitFor()
})

test('the table is sorted by each column, by mouse and by keyboard, and the address keeps it', async () => {
  await using world = await createWorld({ outside: true })
  const shown = anIncident(Date.now(), world.tenantId)
  await using opened = await openAsOperator(world, '/all', { prepare: (page) => routeAll(page, () => shown) })
  const { page } = opened
  const sorted = (name: string): Promise<string | null> =>
    page.getByRole('columnheader', { name, exact: true }).getAttribute('aria-sort')
  await page.getByRole('row').nth(7).waitFor()
  expect((await names(page)).slice(0, 3)).toEqual(['Harbor Clinic', 'Pine Street Physiotherapy', 'Old Town Garage'])
  expect(await sorted('What is wrong')).toBe('descending')
  await page.getByTitle('Failed or cancelled, or not delivered').getByRole('button', { name: 'Failed' }).waitFor()
  const heads = page.getByRole('columnheader').getByRole('button')
  const unsorted = [
    'Tenant↕',
    'What is wrong↓',
    'Since↕',
    'Texts↕',
    'Last 24 h↕',
    'Failed↕',
    'Waiting↕',
    'Never arrived↕',
  ]
  expect((await heads.allInnerTexts()).map((text) => text.replace(/\s(?=.$)/, ''))).toEqual(unsorted)
  await page.getByRole('button', { name: 'Texts', exact: true }).click()
  expect((await names(page))[0]).toBe('Pine Street Physiotherapy')
  expect([await sorted('Texts'), await sorted('What is wrong')]).toEqual(['descending', null])
  await page.getByRole('button', { name: 'Texts', exact: true }).press('Enter')
  expect([await sorted('Texts'), (await names(page)).at(-1)]).toEqual(['ascending', 'Pine Street Physiotherapy'])
  await page.getByRole('button', { name: 'Tenant', exact: true }).click()
  expect((await names(page))[0]).toBe('Acme')
  expect(new URL(page.url()).hash).toBe('#/all?sort=tenant')
  for (const [column, first] of [
    ['Failed', 'Harbor Clinic'],
    ['Waiting', 'Pine Street Physiotherapy'],
    ['Never arrived', 'Harbor Clinic'],
    ['Last 24 h', 'Pine Street Physiotherapy'],
    ['Since', 'Harbor Clinic'],
  ] as const) {
    await page.getByRole('table').getByRole('button', { name: column, exact: true }).click()
    expect([column, (await names(page))[0]]).toEqual([column, first])
  }
  await page.reload()
  await page.getByRole('row').nth(7).waitFor()
  expect(await sorted('Since')).toBe('descending')
})

test('an alert is muted for 8 hours and heard again, here and on the overview of its tenant', async () => {
  await using world = await createWorld({ outside: true })
  await world.otherTenant('Pine Street')
  const { extensionId } = world.control.addExtension({ extensionNumber: '117', numbers: ['+15555550117'] })
  await world.connect({ extensionId })
  await revoke(world, `extension_id = '${extensionId}'`)
  await using opened = await openAsOperator(world, '/all')
  const { page, complaints } = opened
  await heading(page, 'First: extension 117 was revoked.')
  await page.locator('.rail-count.bad', { hasText: '1 cannot send' }).waitFor()
  await page.getByRole('button', { name: 'Mute' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Mute' })
  await dialog.getByText('First: extension 117 was revoked.').waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'For 8 hours' }).click()
  await page.getByText(/^“First: extension .* was revoked\.” Muted in the console until .*\.\s*$/).waitFor()
  await page.getByRole('button', { name: 'Show checks' }).click()
  await page.locator('.checks', { hasText: 'Extension 117 of First is revoked' }).waitFor()
  expect(await page.locator('#main').innerText()).not.toContain(`xtension ${extensionId}`)
  await page.getByRole('button', { name: 'Hide checks' }).click()
  const muted = (await alertsOf(world)).find(({ alert }) => alert === 'extension_revoked')
  expect(muted?.mutedBy).toBe('session')
  expect(Math.abs(Date.parse(muted?.mutedUntil ?? '') - Date.now() - 8 * 3_600_000)).toBeLessThan(60_000)
  expect(await page.locator('h1').innerText()).not.toContain('revoked')
  await tenantLink(page, 'First').click()
  await page.locator('.needs .muted', { hasText: 'was revoked' }).waitFor()
  expect(await page.locator('h1').innerText()).not.toContain('revoked')
  await opened.quiet()
  expect(await page.locator('.rail-count', { hasText: 'cannot send' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Unmute' }).click()
  await heading(page, /^Extension .* was revoked: .* cannot send or receive\.$/)
  await page.locator('.rail-count.bad', { hasText: '1 cannot send' }).waitFor()
  await page.getByRole('button', { name: 'Mute' }).first().click()
  await page.getByRole('button', { name: 'Until it ends' }).click()
  await page.locator('.needs .muted', { hasText: 'until it ends' }).waitFor()
  expect((await alertsOf(world)).find(({ alert }) => alert === 'extension_revoked')?.mutedUntil).toBe('over')
  expect(complaints).toEqual([])
})

test('what may not be muted has no bell, and a mute that the gateway refuses says so', async () => {
  await using world = await createWorld({ outside: true })
  const shown = anIncident(Date.now(), world.tenantId)
  const [revoked] = shown.alerts
  const since = revoked?.since ?? ''
  const alerts = [
    {
      ...shown.alerts[0],
      alert: 'storage_failing',
      subject: 'gateway',
      text: '',
      what: 'The disk of /data/sgw.db has 57 MiB left',
      fix: 'Make room.',
      since,
      detail: {},
    },
    {
      ...shown.alerts[0],
      alert: 'no_extension_can_send',
      subject: 'tenant_2',
      text: '',
      what: '',
      fix: '',
      since,
      detail: {},
      tenantId: 'tenant_2',
    },
    {
      ...shown.alerts[0],
      alert: 'jwt_ends',
      subject: '7',
      text: '',
      what: '',
      fix: '',
      since,
      detail: { extensionId: '7', reason: 'Its JWT ends tomorrow' },
      tenantId: 'tenant_2',
    },
  ].map(({ tenantId = '', ...alert }) => (alert.alert === 'storage_failing' ? alert : { ...alert, tenantId }))
  await using opened = await openAsOperator(world, '/all', {
    prepare: (page) => routeAll(page, () => ({ ...shown, alerts })),
  })
  const { page } = opened
  await heading(page, 'The disk of /data/sgw.db has 57 MiB left.')
  await page
    .getByText(
      'One of 7 tenants needs attention, one waits, one is suspended, one has no number; the other three are fine.',
    )
    .waitFor()
  expect(await page.locator('.overview-head').getByRole('button', { name: 'Mute' }).count()).toBe(0)
  const row = page.locator('.needs li', { hasText: 'none of its extensions can send' })
  expect([await row.count(), await row.getByRole('button', { name: 'Mute' }).count()]).toEqual([1, 0])
  await page.locator('.needs li', { hasText: 'its JWT ends tomorrow' }).getByRole('button', { name: 'Mute' }).click()
  await page.getByRole('button', { name: 'For 1 hour' }).click()
  await page.getByRole('alert').getByText('Alert not found').waitFor()
})

test('an alert of a tenant that no figure shows is told among all tenants, and with what to do on its overview', async () => {
  await using world = await createWorld({ outside: true })
  await world.otherTenant('Pine Street')
  const { tenantId } = world
  const words = { what: `The list of ${tenantId} is too long`, fix: 'Make it shorter.', overText: '' }
  const alert = { ...words, alert: 'one_of_a_newer_server', subject: tenantId, since: Date.now(), detail: { tenantId } }
  // The checks of this gateway find nothing.
  Object.defineProperty(world.gateway.alerts, 'firing', { get: () => [alert], set() {} })
  await using opened = await openAsOperator(world, '/all')
  const { page, complaints } = opened
  await heading(page, 'First: The list of First is too long.')
  await page.locator('.overview-head').getByRole('link', { name: 'View First' }).click()
  await heading(page, 'The list of First is too long.')
  await until(async () => new URL(page.url()).hash === '#/overview')
  await page.locator('.overview-head').getByText('Make it shorter.').waitFor()
  await page.locator('.overview-head').getByRole('button', { name: 'Mute' }).waitFor()
  expect(complaints).toEqual([])
})

test('a suspended tenant says so and is activated, and one without a number is connected in its own Setup', async () => {
  await using world = await createWorld({ outside: true })
  const { tenantId } = await world.otherTenant('Pine Street')
  await setTenantStatus(world.gateway, { tenantId, status: 'suspended' })
  await using opened = await openAsOperator(world, '/all')
  const { page, complaints } = opened
  await heading(page, NOTHING)
  await page.getByText('One of 2 tenants is suspended; the other one is fine.').waitFor()
  await page
    .getByRole('row', { name: /Pine Street.*Suspended by the operator/ })
    .getByRole('button', { name: 'Activate…' })
    .click()
  await page.getByRole('button', { name: 'Activate', exact: true }).click()
  const row = page.getByRole('row', { name: /Pine Street.*No number is connected yet/ })
  await row.getByRole('link', { name: 'Connect: Pine Street' }).click()
  await page.getByRole('button', { name: 'Tenant and app: Pine Street Pine Street app' }).waitFor()
  await until(async () => new URL(page.url()).hash === '#/numbers')
  expect(complaints).toEqual([])
})

test('all tenants are read on while the tenant that was used last is suspended, and what cannot be read says so', async () => {
  await using world = await createWorld({ outside: true })
  await world.otherTenant('Pine Street')
  await using opened = await openAsOperator(world, '/all')
  const { page } = opened
  await heading(page, NOTHING)
  await setTenantStatus(world.gateway, { tenantId: world.tenantId, status: 'suspended' })
  await page.getByRole('row', { name: /First.*Suspended by the operator/ }).waitFor()
  expect(await page.getByText('Offline since').count()).toBe(0)
  await tenantLink(page, 'First').click()
  await page.locator('.offline-bar').waitFor()
  await page.route('**/v1/operator/overview?*', (route) => route.fulfill({ status: 400, json: { error: 'Broken' } }))
  await page.goBack()
  await heading(page, 'The tenants could not be loaded.')
  await page.unroute('**/v1/operator/overview?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await heading(page, NOTHING)
  await page.route('**/v1/operator/overview?*', (route) => route.fulfill({ status: 400, json: { error: 'Broken' } }))
  await page.getByText(/^The gateway says: Broken\. Below is what was known at /).waitFor()
})

test('the usage of the month over all is a file', async () => {
  await using world = await createWorld({ outside: true })
  await world.otherTenant('Pine Street')
  await world.untilStatus(await world.send())
  await using opened = await openAsOperator(world, '/all')
  const { page } = opened
  const now = new Date()
  const month = now.toLocaleString('en-GB', { month: 'long', timeZone: 'UTC' })
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: `Usage of ${month} as CSV` }).click(),
  ])
  expect(await page.getByRole('button', { name: /^Usage of \w+ as CSV$/ }).allInnerTexts()).toEqual([
    month,
    new Date(now.getUTCFullYear(), now.getUTCMonth() - 1, 1).toLocaleString('en-GB', { month: 'long' }),
  ])
  expect(file.suggestedFilename()).toBe(`usage-${now.toISOString().slice(0, 7)}.csv`)
  expect(await Bun.file(await file.path()).text()).toMatch(/^[^\n]*tenantName[^\n]*\r?\n[^]*First/)
})

test('of 500 tenants only those in sight are drawn; each is reached by scrolling, by its name, and by its figures', async () => {
  await using world = await createWorld({ outside: true })
  const tenants = [
    tenantOf(world.tenantId, 'First', 12),
    ...Array.from({ length: 499 }, (_, index) => tenantOf(`tenant_${index}`, `Clinic ${index}`, 10 * index)),
  ]
  await using opened = await openAsOperator(world, '/all', {
    prepare: (page) => routeAll(page, () => ({ tenants, alerts: [] })),
  })
  const { page } = opened
  await heading(page, 'All 500 tenants are fine.')
  expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe('501')
  expect((await names(page))[0]).toBe('Clinic 498')
  expect(await page.locator('.tenant-name').count()).toBeLessThan(80)
  await page.locator('.tenants').evaluate((table) => table.scrollIntoView({ block: 'end' }))
  await tenantLink(page, 'Clinic 0').waitFor()
  expect(await page.locator('.tenant-name').count()).toBeLessThan(80)
  await page.keyboard.press('/')
  await page.keyboard.type('clinic 77')
  await until(async () => (await names(page)).join() === 'Clinic 77')
  await page.getByLabel('Find a tenant').fill('nobody')
  await page.getByText('No tenant has this name.').waitFor()
})

const withLongNames = sharedByTests(async (stack) => {
  const world = stack.use(await createWorld({ outside: true }))
  const shown = anIncident(Date.now(), world.tenantId)
  const long = tenantOf('tenant_8', `🏥 ${'Praxisgemeinschaft '.repeat(5)}`.slice(0, 100), 70_000, {
    failed: 12_345,
    waiting: 6789,
    neverArrived: 4321,
  })
  const all = { ...shown, tenants: [...shown.tenants, long] }
  return stack.use(await openAsOperator(world, '/all', { prepare: (page) => routeAll(page, () => all) }))
})

for (const size of [...SIZES, [320, 700, 'dark'] as const])
  test(`all tenants at ${size[0]} × ${size[1]} in ${size[2]}: nothing scrolls sideways, and axe finds nothing`, async () => {
    const { page, complaints } = await withLongNames()
    await show(page, size)
    await page.getByText('6,789 messages wait').first().waitFor()
    await page.locator('main h1').evaluate((top) => top.scrollIntoView({ block: 'end' }))
    for (const part of [
      'document.documentElement',
      'document.querySelector("main")',
      'document.querySelector(".overview")',
    ])
      expect([part, await page.evaluate(`${part}.scrollWidth - ${part}.clientWidth`)]).toEqual([part, 0])
    await expectAccessible(page)
    await page.locator('.tenants').evaluate((table) => table.scrollIntoView({ block: 'end' }))
    await expectAccessible(page)
    expect(complaints).toEqual([])
  })

test('with all of its extensions muted, a tenant that cannot send at all still says so', async () => {
  await using world = await createWorld({ outside: true })
  await world.otherTenant('Pine Street')
  await revoke(world, '1')
  await using opened = await openAsOperator(world, '/all')
  const { page } = opened
  await heading(page, /^First: extension .* was revoked\.$/)
  await page.getByRole('button', { name: 'Mute' }).first().click()
  await page.getByRole('button', { name: 'For 1 hour' }).click()
  await heading(page, 'First: none of its extensions can send.')
  await page.locator('.rail-count.bad', { hasText: '1 cannot send' }).waitFor()
  await tenantLink(page, 'First').click()
  await heading(page, 'None of the extensions can send.')
  await page.locator('.rail-count.bad', { hasText: '1 cannot send' }).waitFor()
})

test('inside a tenant the rail counts how many others need attention, and its overview tells of none of them', async () => {
  await using world = await createWorld({ outside: true })
  const other = await world.otherTenant('Pine Street')
  await revoke(world, '1')
  await using opened = await openAsOperator(world, `/messages?tenant=${other.tenantId}`)
  const { page, complaints } = opened
  const back = page.locator('.rail-item', { hasText: 'All tenants' })
  await back.locator('.rail-count.bad', { hasText: '1 other tenant needs attention' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('o')
  await heading(page, 'No number is connected yet.')
  expect(await page.locator('.needs li').count()).toBe(0)
  await back.click()
  await heading(page, /^First: extension .* was revoked\.$/)
  // Chromium says so of a socket whose tenant was left before it was open.
  expect(complaints.filter((text) => !text.includes('before the connection is established'))).toEqual([])
})

async function revoke(world: World, which: string): Promise<void> {
  await world.gateway.database.gate.execute(`UPDATE extensions SET status = 'revoked' WHERE ${which}`)
  world.gateway.directory.forget(world.tenantId)
}

interface FiringAlert {
  alert: string
  mutedUntil?: string
  mutedBy?: string
}

const alertsOf = async (world: World): Promise<FiringAlert[]> =>
  (await operate<{ alerts: FiringAlert[] }>(world, 'GET', '/v1/operator/alerts')).body.alerts
