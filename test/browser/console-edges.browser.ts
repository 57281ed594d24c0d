import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { startTestGateway } from '../../src/testing/index.ts'
import { expectAccessible, openConsole } from '../support/console.ts'
import { startCuttableProxy } from '../support/cuttable.ts'
import { createWorld } from '../support/world.ts'

const TO = '+15555550199'
/** More than the list keeps while its newest rows are in sight. */
const MANY = 360
const KEPT = 300

test('a tenant without a number is told so everywhere, with the way to connect one', async () => {
  await using world = await createWorld({ connect: false })
  for (const view of ['phone', 'messages']) {
    await using opened = await openConsole(world.url, { hash: `#/${view}` })
    const { page, complaints } = opened
    await page.getByRole('heading', { name: 'No number is connected yet.' }).first().waitFor()
    await page.getByText('The owner of a RingCentral extension connects it').waitFor()
    expect(await page.locator('main').textContent()).not.toContain('+1555')
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Make invite link' }).last().click()
    await page.getByRole('dialog', { name: 'Invite link' }).locator('.mono', { hasText: '/v1/rc/' }).waitFor()
    expect(complaints).toEqual([])
  }
})

test('what is first opened offline says so, and is there when the connection returns', async () => {
  await using gateway = await startTestGateway()
  using proxy = startCuttableProxy(gateway.url)
  await using opened = await openConsole(proxy.url, { hash: '#/messages' })
  const { page, complaints } = opened
  await page.getByText('No messages yet.').waitFor()
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
  proxy.cut()
  await page.locator('.offline-bar', { hasText: /^Offline/ }).waitFor()
  await page.getByRole('link', { name: 'Phone' }).first().click()
  await page.getByRole('heading', { name: 'This part of the page could not be loaded.' }).waitFor()
  // The page itself could not be loaded now.
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'This part of the page could not be loaded.' }).waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('could not be loaded').waitFor()
  await page.keyboard.press('Escape')
  proxy.mend()
  await page.getByRole('button', { name: 'Send the first text' }).waitFor()
  expect(complaints.filter((text) => !text.includes('net::ERR'))).toEqual([])
})

test('a message that is first opened offline leads back to the list, and is there when the connection returns', async () => {
  await using gateway = await startTestGateway()
  const [from = ''] = gateway.numbers
  await gateway.client.sms.sendAndWait({ from, to: TO, body: 'opened offline' })
  using proxy = startCuttableProxy(gateway.url)
  await using opened = await openConsole(proxy.url, { hash: '#/messages', width: 390, height: 844 })
  const { page } = opened
  const row = page.locator('.row', { hasText: 'opened offline' })
  await row.waitFor()
  await page.getByRole('heading', { name: /^1 sent/ }).waitFor()
  proxy.cut()
  await page.locator('.offline-bar').waitFor()
  await row.click()
  await page.getByRole('button', { name: 'Back to the list' }).click()
  await row.click()
  proxy.mend()
  await page.locator('.bubble', { hasText: 'opened offline' }).waitFor()
})

test('a console that starts while the gateway is away is there when it returns', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url, { hash: '#/messages' })
  const { page, complaints } = opened
  await page.getByText('No messages yet.').waitFor()
  await page.route('**/v1/me', (route) => route.abort())
  await page.reload()
  await page.getByRole('heading', { name: 'The console could not be loaded.' }).waitFor()
  await page.unroute('**/v1/me')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('No messages yet.').waitFor()
  expect(complaints.filter((text) => !text.includes('net::ERR'))).toEqual([])
})

test('offline moves no row', async () => {
  await using gateway = await startTestGateway()
  const [from = ''] = gateway.numbers
  await gateway.client.sms.sendAndWait({ from, to: TO, body: 'stays' })
  using proxy = startCuttableProxy(gateway.url)
  await using opened = await openConsole(proxy.url, { hash: '#/messages', width: 390, height: 844 })
  const { page } = opened
  const row = page.locator('.row', { hasText: 'stays' })
  await row.waitFor()
  await page.getByRole('heading', { name: /^1 sent/ }).waitFor()
  const before = await row.boundingBox()
  proxy.cut()
  await page.locator('.offline-bar').waitFor()
  expect(await row.boundingBox()).toEqual(before)
})

test('the count of what waits opens as many rows, and the sentence leaves room for them on a phone', async () => {
  await using world = await createWorld({ work: false })
  await using opened = await openConsole(world.url, { width: 390, height: 844, theme: 'dark' })
  const { page } = opened
  for (const body of ['one', 'two', 'three']) await world.send({ body })
  await world.send({ body: 'later', sendAt: new Date(Date.now() + 3_600_000).toISOString() })
  const until = new Date(Date.now() + 360_000).toISOString()
  const waiting = [{ reason: 'provider_paused', count: 3, since: new Date().toISOString(), began: null, until }]
  await page.route('**/v1/overview?*', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), waiting } })
  })
  await page.getByRole('link', { name: 'Messages' }).click()
  const link = page.getByRole('link', { name: '3 messages wait' })
  await link.waitFor()
  expect((await page.locator('h1').boundingBox())?.height).toBeLessThanOrEqual(14 + 3 * 24)
  await page.locator('.tab-count.warn', { hasText: '3 waiting' }).waitFor()
  await link.click()
  await page.locator('.tabs [aria-current]', { hasText: 'Waiting3' }).waitFor()
  await page.locator('.row', { hasText: 'later' }).waitFor({ state: 'detached' })
  expect(await page.locator('.row').count()).toBe(3)
})

test('rows that nobody looks at are given up, and loaded again when somebody does', async () => {
  await using gateway = await startTestGateway()
  const [from = ''] = gateway.numbers
  const texts = Array.from({ length: MANY }, (_, index) => `text ${index}.`)
  await Promise.all(texts.map((body, index) => gateway.client.sms.send({ from, to: `+1555555${1000 + index}`, body })))
  await using opened = await openConsole(gateway.url, { hash: '#/messages' })
  const { page } = opened
  await page.locator('.row').first().waitFor()
  await scrollToEnd(page, `All ${MANY} loaded`)
  await page.evaluate(`document.querySelector('.rows').scrollTo({ top: 0 })`)
  // The page hears of it with the next frame.
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  await gateway.client.sms.sendAndWait({ from, to: TO, body: 'one more' })
  await page.locator('.row', { hasText: 'one more' }).waitFor()
  await page.getByText(`${KEPT} of ${MANY + 1} loaded`).waitFor()
  await scrollToEnd(page, `All ${MANY + 1} loaded`)
})

/** Scrolls down until the foot of the list says that all is there. */
async function scrollToEnd(page: Page, foot: string): Promise<void> {
  const scroll = `(() => {
    const rows = document.querySelector('.rows')
    rows.scrollTo({ top: rows.scrollHeight })
    return document.querySelector('.list-foot').textContent
  })()`
  while (!(await page.evaluate<string>(scroll)).includes(foot))
    await page.evaluate('new Promise(requestAnimationFrame)')
}
