import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { newLogin } from '../support/operator.ts'
import { openConsole } from '../support/console.ts'
import { contrastOf } from '../support/contrast.ts'
import { startReceiver } from '../support/receiver.ts'
import { sharedByTests } from '../support/shared.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'
import { Sgw } from '../../src/client/client.ts'

const THEMES = ['light', 'dark'] as const

/** One walk through the states, each measured in both themes. */
const walked = sharedByTests(async (stack) => {
  const world = stack.use(await createWorld())
  const broken = stack.use(startReceiver(500))
  await makeTroubles(world, broken.url)
  const { page } = stack.use(await openConsole(world.url, { hash: '#/messages' }))
  const found = { light: newFindings(), dark: newFindings() }
  const measure = async (): Promise<void> => {
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme })
      const { measured, tooLow } = await contrastOf(page)
      found[colorScheme].measured.push(...measured)
      found[colorScheme].tooLow.push(...tooLow)
    }
  }
  await page.getByRole('list', { name: 'Also needs attention' }).waitFor()
  await measure()
  for (const text of ['refused', 'Where do I park?', 'fine']) {
    await page.locator('.row', { hasText: text }).click()
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
    await measure()
  }
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  await measure()
  await page.keyboard.press('Escape')
  await page.goto(`${new URL(page.url()).origin}/console/#/phone`)
  for (const fault of ['429, try later', 'recipient opted out', 'goes well']) {
    await page.getByText(fault, { exact: true }).click()
    await page.getByLabel('Text from your app').fill(fault)
    await page.getByRole('button', { name: 'Send from your app' }).click()
    await page.locator('.said, .said-note', { hasText: fault }).first().waitFor()
    await measure()
  }
  return found
})

const newFindings = (): { measured: string[]; tooLow: string[] } => ({ measured: [], tooLow: [] })

for (const theme of THEMES)
  test(`in ${theme} each text has enough contrast with what is beneath it, where axe leaves that open, too`, async () => {
    const { measured, tooLow } = (await walked())[theme]
    expect(tooLow).toEqual([])
    expect(measured.length).toBeGreaterThan(0)
  })

/** How many messages of each tab `makeEachState` makes. One more is cancelled, and one sent. */
const MADE = { Waiting: 2, Scheduled: 1, Failed: 3, 'Not delivered': 1, Received: 1 } as const
const ALL_MADE = 10

test('each count is that of the rows that its link opens: of the sentence, of what else needs attention, of the rail and of the tabs', async () => {
  await using world = await createWorld()
  await makeEachState(world)
  await using opened = await openConsole(world.url, { hash: '#/messages' })
  const { page } = opened
  await page.getByText(`All ${ALL_MADE} loaded`).waitFor()
  expect(await page.locator('.row').count()).toBe(ALL_MADE)
  await page.locator('.rail-count', { hasText: `${MADE.Waiting} waiting` }).waitFor()
  await page.getByRole('link', { name: `${MADE.Waiting} messages wait` }).click()
  await expectRows(page, 'Waiting')
  const others = page.getByRole('list', { name: 'Also needs attention' })
  // Scheduled and cancelled messages are part of no share.
  await others.getByText(`${MADE.Failed} of 7 failed in 24 hours; ${MADE['Not delivered']} not delivered`).waitFor()
  await others.getByRole('link', { name: 'failed', exact: true }).click()
  await expectRows(page, 'Failed')
  await others.getByRole('link', { name: 'not delivered', exact: true }).click()
  await expectRows(page, 'Not delivered')
  for (const name of Object.keys(MADE) as (keyof typeof MADE)[]) {
    await page.locator('.tabs').getByRole('button', { name, exact: true }).click()
    await expectRows(page, name)
  }
})

async function expectRows(page: Page, tab: keyof typeof MADE): Promise<void> {
  await page.locator('.tabs [aria-current]', { hasText: `${tab}${MADE[tab]}` }).waitFor()
  if (tab === 'Failed' && !page.url().includes('group=none')) {
    expect(await page.locator('.reason-head > b').innerText()).toBe(String(MADE[tab]))
    await page.getByRole('button', { name: 'None' }).click()
  }
  await page.getByText(`All ${MADE[tab]} loaded`).waitFor()
  expect([tab, await page.locator('.row').count()]).toEqual([tab, MADE[tab]])
}

/** Two messages wait at the end: the provider answers no call any more. */
async function makeEachState(world: World): Promise<void> {
  const sgw = new Sgw({ baseUrl: world.url, apiKey: world.key })
  const sendAt = new Date(Date.now() + 3_600_000).toISOString()
  await world.send({ body: 'scheduled', sendAt })
  await sgw.sms.cancel(await world.send({ body: 'cancelled', sendAt }))
  for (const to of ['+15555550181', '+15555550182', '+15555550183'])
    await world.untilStatus(await world.send({ body: 'failed', from: '+15555550999', to }))
  await world.untilStatus(await world.send({ body: 'sent' }))
  await injectSms(world, 'received')
  world.control.planNextSms({ messageStatus: 'DeliveryFailed', deliveryErrorCode: 'SMS-CAR-430' })
  await world.send({ body: 'not delivered', to: '+15555550184' })
  await until(async () => (await sgw.sms.list({ state: 'undelivered' }).page(1)).total === 1)
  await until(async () => (await sgw.sms.list({ direction: 'inbound' }).page(1)).total === 1)
  const fault = { kind: 'respond', status: 429, headers: { 'Retry-After': '600' } } as const
  world.control.fault({ route: 'sms', calls: null, fault })
  for (const to of ['+15555550185', '+15555550186']) await world.send({ body: 'waits', to })
  await until(async () => {
    const { waiting } = await sgw.overview()
    return waiting.filter(({ reason }) => reason !== 'scheduled').reduce((sum, { count }) => sum + count, 0) === 2
  })
}

/** What is bad in a list: a failure, a webhook that failed. */
async function makeTroubles(world: World, webhookUrl: string): Promise<void> {
  const sgw = new Sgw({ baseUrl: world.url, apiKey: world.key })
  await sgw.apps.update(world.app.appId, { webhookUrl })
  await world.untilStatus(await world.send({ body: 'refused', from: '+15555550999' }))
  await world.untilStatus(await world.send({ body: 'fine' }))
  await injectSms(world, 'Where do I park?')
  await until(async () => {
    const { messages } = await sgw.sms.list({ direction: 'inbound', include: 'delivery' }).page(1)
    return messages[0]?.webhooks?.failed === 1
  })
}

test('in production the phone is never loaded, whatever the address says', async () => {
  await using world = await createWorld({ env: { NODE_ENV: 'production', TRUSTED_PROXIES: '127.0.0.1' } })
  const headers = { 'x-forwarded-proto': 'https' }
  await using opened = await openConsole(world.url, { hash: `#login=${await newLogin(world)}&/phone`, headers })
  const { page, requests } = opened
  await page.getByRole('heading', { name: 'No number is connected yet.' }).waitFor()
  await world.send({}, { headers })
  await page.getByRole('link', { name: 'Messages' }).first().click()
  await page.reload()
  await page.locator('.row').click()
  await page.getByRole('heading', { name: 'Failed without an attempt' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await opened.quiet()
  expect(await page.getByRole('link', { name: 'Phone' }).count()).toBe(0)
  const files = requests.filter((request) => request.startsWith('GET /console/'))
  expect(files).toContain('GET /console/conversations.js')
  for (const name of ['phone.js', 'trace.js']) expect(files).not.toContain(`GET /console/${name}`)
  expect(requests.filter((request) => request.includes('/simulator/'))).toEqual([])
})

/** Texts as a contact, once the gateway hears of it. */
async function injectSms(world: World, text: string): Promise<void> {
  await until(() => world.control.subscriptions().length > 0)
  await world.control.injectSms({ from: TO, to: FROM, text })
}
