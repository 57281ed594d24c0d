import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { createApp } from '../../src/operator/apps.ts'
import { expectAccessible, firstLoad, openConsole } from '../support/console.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { FROM, type World, createWorld } from '../support/world.ts'

/** Of bench/README.md. */
const MAX_REQUESTS = 10

test('webhooks that failed are said, delivered again one by one, and recovered; settings are stored at once', async () => {
  await using world = await createWorld()
  await using receiver = startReceiver(500)
  await failTwice(world, receiver)
  await using opened = await openConsole(world.url, { hash: '#/webhooks?outcome=http_error' })
  const { page, complaints } = opened
  await page.getByRole('heading', { name: /answers 500: 2 deliveries never arrived since/ }).waitFor()
  await page.locator('.rail-count.bad[title="never arrived"]', { hasText: '2 never arrived' }).waitFor()
  expect(await page.locator('.destination-state').allTextContents()).toEqual(['0 delivered, 2 failed in 24 hours'])
  await page.setViewportSize({ width: 390, height: 844 })
  await page.locator('.destination').click()
  await page.getByRole('button', { name: 'Recover since…' }).click()
  await page
    .getByRole('dialog', { name: 'Recover failed deliveries' })
    .getByText('when it began to fail')
    .waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.goto(`${world.url}/console/#/webhooks?outcome=http_error`)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.locator('.row', { hasText: 'answered 500' }).nth(1).waitFor()
  await expectFits(page)

  // Keyboard alone: the first row is opened and its delivery made again.
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Never arrived, after one attempt' }).waitFor()
  await page.getByText('It is not tried again automatically. Its log has the reason.').waitFor()
  await expectFits(page)
  receiver.answer = () => new Response('ok')
  const again = page.getByRole('button', { name: 'Deliver again', exact: true })
  await again.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Delivered after 2 attempts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.locator('.detail').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'All' }).click()
  await page.locator('.row', { hasText: '2 attempts' }).waitFor()
  expect(await page.locator('.row').count()).toBe(2)

  await page.locator('.destination').click()
  await page.getByRole('button', { name: 'Recover since…' }).click()
  await page.getByRole('dialog').getByLabel('Failed since').selectOption({ label: '24 h ago' })
  await page.getByRole('button', { name: 'Recover', exact: true }).click()
  await page.getByText('1 delivery is attempted again now.').waitFor()
  expect((await receiver.received(4)).length).toBe(4)
  await page
    .getByRole('heading', { name: 'The destination answers now; 2 of 4 attempts failed in 24 hours.' })
    .waitFor()

  const { appId } = world.app
  await page.getByLabel('Failed deliveries are tried again').selectOption({ label: 'For 43 minutes' })
  await page.getByText('It is tried again 5 times, in about 43 minutes.').waitFor()
  await page.getByLabel('Sent or failed').check()
  await opened.quiet()
  const setting = async (name: string) => (await world.json('GET', `/v1/apps/${appId}/${name}`)).body
  expect(await setting('webhook-retries')).toEqual({ policy: 'short' })
  expect(await setting('webhook-events')).toEqual({ events: ['sms_inbound', 'sms_status'] })
  await page.getByText('“Verify the signature” in docs/receive.md').waitFor()
  await expectFits(page)
  expect(complaints).toEqual([])
})

test('what never arrived stays said after its destination answers again, until it is delivered again or dismissed', async () => {
  await using world = await createWorld()
  await using receiver = startReceiver(500)
  await failTwice(world, receiver)
  receiver.answer = () => new Response('ok')
  await world.control.injectSms({ to: FROM, from: '+15555550177', text: 'three' })
  await receiver.received(3)
  await using opened = await openConsole(world.url, { hash: '#/overview' })
  const { page, complaints } = opened
  const lost = /answers again\. 2 deliveries never arrived, the oldest since/
  await page.getByRole('heading', { name: lost }).waitFor()
  await page.locator('.rail-count.bad[title="never arrived"]', { hasText: '2 never arrived' }).waitFor()
  await page.getByRole('button', { name: 'Deliver the 2 again' }).waitFor()
  await expectFits(page)
  await page.getByRole('heading', { name: lost }).getByRole('link').click()
  await page.getByRole('heading', { name: lost }).waitFor()
  await page.locator('.row', { hasText: 'answered 500' }).nth(1).waitFor()
  expect(await page.locator('.row').count()).toBe(2)
  await page.getByRole('button', { name: 'Never arrived 2' }).waitFor()
  await expectFits(page)

  // One is dismissed on its own, by keys; its request is shown.
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Never arrived, after one attempt' }).waitFor()
  const sent = receiver.requests.find(({ body }) => body['body'] === 'two')
  const shown = page.locator('.posted')
  await shown.getByText('sms_inbound').waitFor()
  const [head = '', json = ''] = (await shown.innerText()).split('\n\n')
  expect(JSON.parse(json)).toEqual(sent?.body)
  const headers = head.split('\n')
  expect(headers[0]).toBe(`POST ${receiver.url}`)
  for (const line of headers.slice(1).filter((each) => !/timestamp/i.test(each))) {
    const [name = '', value = ''] = line.split(': ')
    expect([name, sent?.headers[name.toLowerCase()]]).toEqual([name, value])
  }
  const signedAt = Number(sent?.headers['webhook-timestamp'])
  const shownAt = Number(headers.find((line) => line.startsWith('webhook-timestamp'))?.split(': ')[1])
  expect(shownAt - signedAt === 0 || shownAt - signedAt === 1).toBe(true)
  await expectFits(page)
  await page.getByRole('button', { name: 'Dismiss', exact: true }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('It no longer counts as never arrived.').waitFor()
  await page.getByRole('heading', { name: 'Failed after one attempt' }).waitFor()
  await page.getByRole('heading', { name: /answers again\. 1 delivery never arrived since/ }).waitFor()
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: 'Deliver it again' }).click()
  await receiver.received(4)
  await page
    .getByRole('heading', { name: 'The destination answers now; 2 of 4 attempts failed in 24 hours.' })
    .waitFor()
  expect(receiver.requests.slice(3).map(({ body }) => body['body'])).toEqual(['one'])
  await page.locator('.rail-count[title="never arrived"]').waitFor({ state: 'detached' })
  await page.getByText('No delivery matches this filter.').waitFor()
  expect(complaints).toEqual([])
})

test('what never arrived is dismissed from the overview of a phone, after a question with its facts', async () => {
  await using world = await createWorld()
  await using receiver = startReceiver(500)
  await failTwice(world, receiver)
  receiver.answer = () => new Response('ok')
  await world.control.injectSms({ to: FROM, from: '+15555550177', text: 'three' })
  await receiver.received(3)
  await using opened = await openConsole(world.url, { hash: '#/overview', width: 390, height: 844, theme: 'dark' })
  const { page, complaints } = opened
  await page.getByRole('button', { name: 'Dismiss…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Dismiss 2 deliveries' })
  await dialog
    .getByText(/^2 deliveries to 127\.0\.0\.1:\d+ never arrived, the oldest since .*they no longer count/)
    .waitFor()
  await expectFits(page)
  await page.route('**/v1/webhook-deliveries/dismiss', (route) =>
    route.fulfill({ status: 503, json: { error: 'Storage unavailable' } }),
  )
  await dialog.getByRole('button', { name: 'Dismiss 2' }).click()
  await dialog.getByRole('alert').getByText('The gateway says: Storage unavailable.').waitFor()
  await page.unroute('**/v1/webhook-deliveries/dismiss')
  await dialog.getByRole('button', { name: 'Dismiss 2' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: /can send and receive/ }).waitFor()
  expect(receiver.requests).toHaveLength(3)
  const list = await world.json<{ total: number }>('GET', '/v1/webhook-deliveries?state=never_arrived')
  expect(list.body.total).toBe(0)
  expect(complaints.filter((text) => !text.includes('503'))).toEqual([])
})

test('on a phone with an app’s key: a destination is a page of its own, and another app’s settings are not shown', async () => {
  await using world = await createWorld()
  await using receiver = startReceiver()
  const { gateway, app } = world
  const { appId } = await createApp(gateway, {
    tenantId: app.tenantId,
    name: 'reminders',
    webhookUrl: receiver.url,
    role: 'app',
  })
  await using opened = await openConsole(world.url, {
    hash: '#/webhooks',
    key: world.key,
    width: 390,
    height: 844,
    theme: 'dark',
  })
  const { page, complaints, requests } = opened
  await page.getByRole('heading', { name: 'No webhooks in 24 hours.' }).waitFor()
  await page.getByText('Each webhook that the gateway posts appears here').waitFor()
  await opened.quiet()
  expect(firstLoad(requests).length, requests.join('\n')).toBeLessThanOrEqual(MAX_REQUESTS)
  await page.locator('.destination', { hasText: 'reminders' }).click()
  await page.getByText("Only the app's own key, or an operator, sees and changes its settings.").waitFor()
  await expectFits(page)
  await page.getByRole('link', { name: 'Show its deliveries' }).click()
  await page.getByText('No delivery matches this filter.').waitFor()
  await world.control.injectSms({ to: FROM, from: '+15555550177', text: 'Hello' })
  await page.locator('.row', { hasText: 'Received text' }).waitFor()
  expect(page.url()).toContain(`app=${appId}`)
  await expectFits(page)
  expect(complaints).toEqual([])
})

test('what cannot be loaded says so, and comes when the gateway answers again', async () => {
  await using world = await createWorld()
  await using opened = await openConsole(world.url, { hash: '#/messages' })
  const { page } = opened
  await page.getByText('No messages yet.').waitFor()
  await page.route(/v1\/(webhook-deliveries|triggers)/, (route) =>
    route.fulfill({ status: 500, json: { error: 'Internal error' } }),
  )
  await page.keyboard.press('g')
  await page.keyboard.press('w')
  await page.getByText('The destinations could not be loaded.').waitFor()
  await page.getByText('The deliveries could not be loaded.').waitFor()
  await page.unroute(/v1\/(webhook-deliveries|triggers)/)
  // Both at once: what one of them loads can make the other one load as well.
  await page.evaluate(
    `for (const button of document.querySelectorAll('button')) if (button.textContent === 'Try again') button.click()`,
  )
  await page.getByText('No webhook address is set.').waitFor()
  await page.getByText('Give an app a webhook address').waitFor()
  await page.getByRole('button', { name: 'Set address…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Webhook address' })
  await dialog.getByLabel('Address').fill('http://169.254.169.254/')
  await dialog.getByRole('button', { name: 'Set address' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByLabel('Address').fill('http://127.0.0.1:9/sms')
  await dialog.getByRole('button', { name: 'Set address' }).click()
  await page.locator('.destination', { hasText: '127.0.0.1:9/sms' }).waitFor()
})

/** Two texts arrive whose webhooks fail. */
async function failTwice(world: World, receiver: Receiver): Promise<void> {
  const { appId } = world.app
  await world.call('PUT', `/v1/apps/${appId}`, { body: { webhookUrl: receiver.url } })
  for (const text of ['one', 'two']) await world.control.injectSms({ to: FROM, from: '+15555550177', text })
  await receiver.received(2)
}

async function expectFits(page: Page): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
  await expectAccessible(page)
}
