import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { Sgw } from '../../src/client/client.ts'
import { openConsole } from '../support/console.ts'
import { startReceiver } from '../support/receiver.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'

const ARABIC =
  'مرحبا، موعدك يوم الثلاثاء الساعة 14:30 في العيادة. أجب بكلمة نعم للتأكيد أو بكلمة لا لتغيير الموعد، وإلى اللقاء قريبا'

test('another tenant begins with its own list, another app of the same tenant with what was open', async () => {
  await using world = await createWorld()
  await world.otherTenant('Pine')
  await world.secondApp()
  const id = await world.send({ body: 'of the first tenant' })
  const hash = `#/messages?state=failed&after=24h&contact=%2B15555550199&id=${id}`
  await using opened = await openConsole(world.url, { hash })
  const { page, complaints } = opened
  const bubble = detail(page).locator('.bubble', { hasText: 'of the first tenant' })
  await bubble.waitFor()
  await actAs(page, 'Second app')
  await bubble.waitFor()
  expect(new URL(page.url()).hash).toBe(hash)
  await actAs(page, 'Pine app')
  await page.getByText('No message matches this filter.').waitFor()
  expect(new URL(page.url()).hash).toBe('#/messages?state=failed&after=24h')
  expect(await detail(page).count()).toBe(0)
  expect(complaints).toEqual([])
})

test('another tenant has nothing of the trouble that the rail counted of the one before', async () => {
  await using world = await createWorld()
  await world.connect({ tenantId: (await world.otherTenant('Pine')).tenantId })
  await world.untilStatus(await world.send({ from: '+15555550999' }))
  await using opened = await openConsole(world.url, { hash: '#/messages' })
  const { page } = opened
  const count = page.locator('.rail-count')
  await count.filter({ hasText: '1 failed' }).waitFor()
  await page.getByRole('link', { name: 'Phone' }).first().click()
  await page.getByRole('heading', { name: 'This phone is simulated.' }).waitFor()
  expect(await count.count()).toBe(1)
  await actAs(page, 'Pine app')
  await count.waitFor({ state: 'detached' })
})

test('on a phone, More leads to tenants and apps, and to the keys', async () => {
  await using world = await createWorld()
  await world.otherTenant('Pine')
  await using opened = await openConsole(world.url, { hash: '#/messages', width: 390, height: 844 })
  const { page } = opened
  const more = page.getByRole('button', { name: 'More', exact: true })
  const dialog = page.getByRole('dialog')
  await more.click()
  await dialog.getByRole('button', { name: 'Keys' }).click()
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await more.click()
  await dialog.getByRole('button', { name: 'First app' }).click()
  await dialog.getByRole('button', { name: 'Pine app' }).click()
  await page.getByRole('heading', { name: 'No number is connected yet.' }).waitFor()
})

test('a filter stands in its tab or in a chip, and the keys of the list work after Enter', async () => {
  await using world = await createWorld()
  await world.send({ body: 'sent' })
  await injectSms(world, '+15555550188', 'received')
  await using opened = await openConsole(world.url, { hash: '#/messages' })
  const { page } = opened
  await row(page, 'received').waitFor()
  await search(page, 'state:sent')
  await row(page, 'received').waitFor({ state: 'detached' })
  const chip = page.getByRole('button', { name: 'Remove filter state sent' })
  await chip.waitFor()
  expect(await page.locator('.tabs [aria-current]').count()).toBe(0)
  await row(page, 'sent').waitFor()
  await page.keyboard.press('j')
  await page.locator('.row.cursor', { hasText: 'sent' }).waitFor()
  expect(await page.getByLabel('Search messages').inputValue()).toBe('')
  await search(page, 'state:received')
  await row(page, 'received').waitFor()
  expect(await page.locator('.tabs [aria-current]').textContent()).toBe('Received1')
  expect(await chip.count()).toBe(0)
})

test('what cannot be searched stays in the field with what can be, and is never asked for', async () => {
  await using world = await createWorld()
  await world.send({ body: 'there' })
  await using opened = await openConsole(world.url, { hash: '#/messages?status=wrong' })
  const { page, complaints } = opened
  await page.getByRole('heading', { name: /^Invalid state: “wrong”\. Try waiting,/ }).waitFor()
  expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Show all messages' }).click()
  await row(page, 'there').waitFor()
  await search(page, 'after:tuesday')
  await page.getByRole('alert').filter({ hasText: 'Invalid time: “tuesday”. Try today' }).waitFor()
  expect(await page.getByLabel('Search messages').inputValue()).toBe('after:tuesday')
  expect(new URL(page.url()).hash).toBe('#/messages')
  await page.getByLabel('Search messages').fill('after:today contact:555')
  await page.keyboard.press('Enter')
  await page.getByText('No message matches this filter.').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  expect(complaints).toEqual([])
})

test('a cancelled message is no failure, and the focus stays with it', async () => {
  await using world = await createWorld()
  await world.send({ body: 'tomorrow', sendAt: new Date(Date.now() + 86_400_000).toISOString() })
  await using opened = await openConsole(world.url, { hash: '#/messages' })
  const { page } = opened
  const focused = () => page.evaluate<string>('document.activeElement.className || document.activeElement.textContent')
  await row(page, 'tomorrow').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await detail(page).waitFor()
  expect(await focused()).toBe('detail')
  const cancel = page.getByRole('button', { name: 'Cancel message…' })
  await cancel.click()
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await focused()).toBe('button danger')
  await cancel.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel message' }).click()
  await page.getByRole('heading', { name: 'Cancelled before it was sent' }).waitFor()
  await cancel.waitFor({ state: 'detached' })
  expect(await focused()).toBe('detail')
  await page.locator('.chart-line', { hasText: 'Cancelled' }).waitFor()
  expect(await detail(page).locator('.bad, .bad-point').count()).toBe(0)
  await page.keyboard.press('Escape')
  await row(page, 'tomorrow').locator('.state', { hasText: 'Cancelled' }).waitFor()
  expect(await page.locator('.row.bad').count()).toBe(0)
  await page.reload()
  await page.getByRole('heading', { name: '0 sent and 0 received in 24 hours, none failed.' }).waitFor()
})

test('a right-to-left text shows its beginning, and a short code leads to its messages', async () => {
  await using world = await createWorld()
  await world.send({ body: ARABIC })
  await injectSms(world, '72975', 'Your code is 4711')
  await using opened = await openConsole(world.url, { hash: '#/messages', width: 390, height: 844 })
  const { page, complaints } = opened
  await row(page, ARABIC).waitFor()
  expect(await page.evaluate<boolean>(beginsInside('.outbound .text > .mask'))).toBe(true)
  await row(page, '4711').click()
  await detail(page).getByRole('link', { name: '72975' }).click()
  await row(page, ARABIC).waitFor({ state: 'detached' })
  await row(page, '4711').click()
  await page.getByTitle('Show on the phone').click()
  await page.locator('.said.inbound', { hasText: '4711' }).waitFor()
  await page.getByText('72975 is not a phone number, so you cannot send to it.').waitFor()
  expect(complaints).toEqual([])
})

test('after the extension was revoked no attempt is called safe to repeat', async () => {
  await using world = await createWorld()
  const id = await world.send()
  await world.untilStatus(id)
  await using opened = await openConsole(world.url, { hash: '#/messages' })
  const { page } = opened
  // The gateway can learn of a revocation before an attempt does, so the answer is given.
  await page.route('**/timeline', async (route) => {
    const response = await route.fetch()
    const at = new Date().toISOString()
    const attempt = { at, type: 'attempt', number: 1, outcome: 'not_accepted', httpStatus: 401, durationMs: 11 }
    const error = 'Extension not connected — re-authorize via invite link'
    const entries = [{ at, type: 'queued' }, attempt, { at, type: 'failed', error }]
    await route.fulfill({ response, json: { ...(await response.json()), status: 'failed', entries } })
  })
  await page.locator('.row').click()
  await page.locator('.note', { hasText: 'Not accepted. Repeating would fail, too.' }).waitFor()
  expect(await detail(page).textContent()).not.toContain('safe')
})

test('a webhook that failed stands in the heading, by its destination, and in red on the phone', async () => {
  await using world = await createWorld()
  await using broken = startReceiver(500)
  await using fine = startReceiver()
  const sgw = new Sgw({ baseUrl: world.url, apiKey: world.key })
  await sgw.apps.update(world.app.appId, { webhookUrl: broken.url })
  await sgw.triggers.create({ callbackUrl: fine.url })
  await injectSms(world, TO, 'Where do I park?')
  await Promise.all([broken.received(1), fine.received(1)])
  await using opened = await openConsole(world.url, { hash: '#/messages' })
  const { page } = opened
  // The status code is that of the newest attempt, which can be the other destination's.
  await row(page, 'Where do I park?')
    .locator('em.bad', { hasText: /^webhook (answered 500|failed)$/ })
    .waitFor()
  await row(page, 'Where do I park?').click()
  await page.getByRole('heading', { name: 'Received, a webhook failed' }).waitFor()
  for (const { url } of [broken, fine])
    await page.locator('.chart-line', { hasText: `To ${new URL(url).host}.` }).waitFor()
  await page.getByTitle('Show on the phone').click()
  await page.locator('.said-note.bad', { hasText: /^your app answered 500 in / }).waitFor()
})

test('what to try next stays after the first text, until it was tried', async () => {
  await using world = await createWorld()
  await using opened = await openConsole(world.url)
  const { page } = opened
  const next = page.getByRole('region', { name: 'Try next' })
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await page.getByRole('button', { name: 'Send from your app' }).waitFor()
  await next.getByText('Answer on the phone.').waitFor()
  await page.getByLabel('Text as the contact').fill('C')
  await page.keyboard.press('Enter')
  await next.getByText('Answer on the phone.').waitFor({ state: 'detached' })
  await next.getByText('Choose “429, try later” and send again.').waitFor()
})

test('on a phone lengths end at the margin, buttons begin there, and lines and marks are the page’s', async () => {
  await using world = await createWorld()
  const id = await world.send({ from: '+15555550999' })
  await world.untilStatus(id)
  await using opened = await openConsole(world.url, { hash: '#/messages', width: 390, height: 844 })
  const { page } = opened
  const at = (ms: number): string => new Date(Date.UTC(2026, 10, 24, 12) + ms).toISOString()
  await page.route('**/timeline', async (route) => {
    const response = await route.fetch()
    const entries = [
      { at: at(0), type: 'queued' },
      { at: at(50_000_000), type: 'failed', error: 'Message expired before it could be sent' },
    ]
    await route.fulfill({ response, json: { ...(await response.json()), entries } })
  })
  await row(page, 'number not connected').waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  const [mark, own] = await page.evaluate<[string, string]>(ACCENTS)
  expect(mark).toBe(own)
  await page.keyboard.press('Escape')
  await row(page, 'number not connected').click()
  await page.locator('.chart-line .measure', { hasText: '13 h 53 min' }).waitFor()
  expect(Math.max(...(await page.evaluate<number[]>(rightEnds('.measure'))))).toBeLessThanOrEqual(390 - 16)
  const first = detail(page).locator('.actions .icon').first()
  expect((await first.boundingBox())?.x).toBeCloseTo(16, 0)
})

/** Whether a text is cut and its first letter lies inside its element. */
const beginsInside = (selector: string): string => `(() => {
  const element = document.querySelector('${selector}')
  const range = document.createRange()
  range.setStart(element.firstChild, 0)
  range.setEnd(element.firstChild, 1)
  const [letter, box] = [range.getBoundingClientRect(), element.getBoundingClientRect()]
  return element.scrollWidth > element.clientWidth && letter.left >= box.left && letter.right <= box.right + 1
})()`

/** Where the texts end that elements show, which can be beside the elements. */
const rightEnds = (selector: string): string => `[...document.querySelectorAll('${selector}')].map((element) => {
  const range = document.createRange()
  range.selectNodeContents(element)
  return range.getBoundingClientRect().right
})`

const ACCENTS = `[getComputedStyle(document.querySelector('[type=checkbox]')).accentColor,
  getComputedStyle(document.querySelector('.mark')).backgroundColor]`

const detail = (page: Page) => page.getByRole('complementary', { name: 'Message' })
const row = (page: Page, text: string) => page.locator('.row', { hasText: text })

async function search(page: Page, text: string): Promise<void> {
  await page.keyboard.press('/')
  await page.keyboard.type(text)
  await page.keyboard.press('Enter')
}

async function actAs(page: Page, app: string): Promise<void> {
  await page.getByRole('button', { name: /^Tenant and app/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: app }).click()
  await page.locator('.switcher', { hasText: app }).waitFor()
}

/** Texts as a contact, once the gateway hears of it. */
async function injectSms(world: World, from: string, text: string): Promise<void> {
  await until(() => world.control.subscriptions().length > 0)
  await world.control.injectSms({ from, to: FROM, text })
}
