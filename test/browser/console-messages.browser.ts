import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { SendBody } from '../../src/api/sms/schemas.ts'
import { type TestGateway, startTestGateway } from '../../src/testing/index.ts'
import { expectAccessible, openConsole } from '../support/console.ts'
import { PNG } from '../support/media.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/world.ts'

const TO = '+15555550199'

test('messages appear live, and change where they stand', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url, { hash: '#/messages' })
  const { page, complaints } = opened
  await page.getByText('No messages yet.').waitFor()
  await send(gateway, 'one')
  await page.getByRole('heading', { name: '1 sent and 0 received in 24 hours, none failed.' }).waitFor()
  await row(page, 'one').locator('.state', { hasText: 'Delivered' }).waitFor()
  await send(gateway, 'two')
  await row(page, 'two').waitFor()
  expect(await page.locator('.row .text').allTextContents()).toEqual(['two', 'one'])
  await gateway.client.sms.send({ from: '+15555550999', to: TO, body: 'from nowhere' })
  // Long before the figures are due to be read again: a failure must not stand under "none failed".
  await page.getByRole('heading', { name: /^1 of 3 failed in 24 hours/ }).waitFor({ timeout: 20_000 })
  expect(complaints).toEqual([])
})

test('shares are of the messages that were accepted and not scheduled for later, and lead to what they count', async () => {
  await using gateway = await startTestGateway()
  const [from = ''] = gateway.numbers
  await send(gateway, 'fine')
  await gateway.client.sms.send({ from, to: TO, body: 'later', sendAt: new Date(Date.now() + 3_600_000) })
  await using opened = await openConsole(gateway.url)
  const { page, complaints } = opened
  await page.getByText('recipient opted out', { exact: true }).click()
  await page.getByLabel('Text from your app').fill('Anyone there?')
  await page.getByRole('button', { name: 'Send from your app' }).click()
  await page.locator('.said-note.bad').waitFor()
  await page.getByRole('link', { name: 'Messages' }).first().click()
  await page.getByRole('heading', { name: '1 of 2 not delivered in 24 hours.' }).waitFor()
  await page.getByRole('link', { name: 'not delivered', exact: true }).click()
  await page.locator('.tabs [aria-current]', { hasText: 'Not delivered1' }).waitFor()
  await row(page, 'fine').waitFor({ state: 'detached' })
  expect(await page.locator('.row .text').allTextContents()).toEqual([expect.stringContaining('Anyone there?')])
  await gateway.client.sms.sendAndWait({ from: '+15555550999', to: TO, body: 'from nowhere' })
  await page.reload()
  await page.getByRole('heading', { name: '1 of 3 failed in 24 hours; 1 not delivered.' }).waitFor()
  expect(complaints).toEqual([])
})

test('figures that do not know the messages say nothing of failures', async () => {
  await using gateway = await startTestGateway()
  await send(gateway, 'old and fine')
  await gateway.client.sms.sendAndWait({ from: '+15555550999', to: TO, body: 'old and failed' })
  await using opened = await openConsole(gateway.url)
  const { page } = opened
  const totals = { accepted: 1, sent: 1, failed: 0, cancelled: 0, received: 0, delivered: 0, undelivered: 0 }
  await page.route('**/v1/overview?*', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), totals } })
  })
  const read = page.waitForResponse(/overview/)
  await page.getByRole('link', { name: 'Messages' }).first().click()
  await read
  await row(page, 'old and failed').waitFor()
  await page.getByRole('heading', { name: 'Messages, newest first.' }).waitFor()
  await page.getByRole('button', { name: 'Failed' }).click()
  await row(page, 'old and fine').waitFor({ state: 'detached' })
  expect(await page.locator('h1').textContent()).not.toContain('none failed')
})

test('an extension that was revoked is said first and counted in the rail, with a button that leads to both ways to authorize it again', async () => {
  await using gateway = await startTestGateway()
  await send(gateway, 'before')
  await gateway.client.sms.sendAndWait({ from: '+15555550999', to: TO, body: 'from nowhere' })
  await using opened = await openConsole(gateway.url)
  const { page, complaints } = opened
  const [known] = await gateway.client.connection.health()
  const fix =
    'Authorize it again with an invite link: sgw extensions invite --tenant tenant_0123456789abcdef, or POST /v1/rc/invite-token.'
  const revoked = {
    ...known,
    status: 'revoked',
    reason: 'Its authorization has ended',
    since: new Date().toISOString(),
    fix,
  }
  await page.route('**/v1/rc/extensions/health', (route) => route.fulfill({ json: { extensions: [revoked] } }))
  await page.getByRole('link', { name: 'Messages' }).first().click()
  await page.getByRole('heading', { name: /^Extension .* was revoked: .* cannot send or receive\.$/ }).waitFor()
  await page.getByRole('list', { name: 'Also needs attention' }).getByText('1 of 2 failed in 24 hours').waitFor()
  await page.locator('.rail-count.bad', { hasText: '1 cannot send' }).waitFor()
  await page.getByText('Its messages fail. Authorize it, then send them again.').waitFor()
  await page.getByRole('button', { name: 'Authorize again' }).click()
  await page.getByRole('button', { name: 'Make invite link' }).click()
  const dialog = page.getByRole('dialog', { name: 'Invite link' })
  const link = (await dialog.locator('.mono').textContent()) ?? ''
  expect(new URL(link).pathname).toStartWith('/v1/rc/')
  expect((await fetch(link.replace('localhost', '127.0.0.1'), { redirect: 'manual' })).status).toBeLessThan(400)
  await dialog.getByRole('button', { name: 'Copy the link' }).click()
  await dialog.getByRole('button', { name: 'Copied' }).waitFor()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Close' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('what waits is named so in its row and where it is open', async () => {
  await using gateway = await startTestGateway()
  await using opened = await openConsole(gateway.url, { hash: '#/messages' })
  const { page } = opened
  gateway.provider.next('429', 20)
  const [from = ''] = gateway.numbers
  await gateway.client.sms.send({ from, to: TO, body: 'waits first' })
  // No event tells of a wait.
  await row(page, 'waits first').locator('.state', { hasText: 'Waiting' }).waitFor()
  await gateway.client.sms.send({ from, to: TO, body: 'waits second' })
  await row(page, 'waits second').locator('.state', { hasText: 'Waiting' }).waitFor()
  await row(page, 'waits second').click()
  await page.getByRole('heading', { name: 'Waiting', exact: true }).waitFor()
})

test('a moment does not stand before the end of the bar that led to it, however short that was', async () => {
  await using gateway = await startTestGateway()
  await send(gateway, 'quick')
  await using opened = await openConsole(gateway.url, { hash: '#/messages' })
  const { page } = opened
  const after = (ms: number): string => new Date(Date.UTC(2026, 10, 24, 12) + ms).toISOString()
  await page.route('**/timeline', async (route) => {
    const response = await route.fetch()
    const entries = [
      { at: after(0), type: 'queued' },
      { at: after(2), type: 'attempt', number: 1, outcome: 'accepted', httpStatus: 200, durationMs: 3 },
      { at: after(5), type: 'sent', rcMessageId: null },
      { at: after(10_000), type: 'delivered' },
    ]
    await route.fulfill({ response, json: { ...(await response.json()), deliveryStatus: 'delivered', entries } })
  })
  await row(page, 'quick').click()
  await page.getByText('10.0 s in all').waitFor()
  const box = (name: string) => page.locator('.chart-line', { hasText: name }).locator('i').first().boundingBox()
  const [bar, dot] = [await box('Attempt 1'), await box('Sent')]
  if (bar === null || dot === null) throw new Error('The chart lacks a line')
  expect(dot.x + dot.width / 2).toBeGreaterThanOrEqual(bar.x + bar.width)
})

test('only an attempt whose call is under way runs; one whose process ended got no answer', async () => {
  await using gateway = await startTestGateway()
  await send(gateway, 'cut off')
  await using opened = await openConsole(gateway.url, { hash: '#/messages' })
  const { page } = opened
  const start = Date.now() - 5000
  const after = (ms: number): string => new Date(start + ms).toISOString()
  const open = { at: after(0), type: 'attempt', number: 1, outcome: 'unknown', durationMs: null }
  let timeline: object = { status: 'sending', waiting: null, entries: [{ at: after(0), type: 'queued' }, open] }
  await page.route('**/timeline', async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), ...timeline } })
  })
  await row(page, 'cut off').click()
  await page.getByText('RingCentral has not answered yet.').waitFor()
  const line = page.locator('.chart-line', { hasText: 'Attempt 1' })
  expect(await line.locator('i.work').count()).toBe(1)
  timeline = { status: 'sent', entries: [open, { at: after(2000), type: 'sent', rcMessageId: null }] }
  await page.reload()
  await page.getByText('No answer. Unknown outcome').waitFor()
  expect(await line.locator('i.bad-work').count()).toBe(1)
  expect(await line.textContent()).toContain('–')
})

test('the search field takes the filters of the API, and the address keeps them', async () => {
  await using gateway = await startTestGateway()
  await send(gateway, 'for him')
  await send(gateway, 'for her', '+15555550188')
  await using opened = await openConsole(gateway.url, { hash: '#/messages' })
  const { page } = opened
  await row(page, 'for him').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('to:+15555550188')
  await page.keyboard.press('Enter')
  await row(page, 'for him').waitFor({ state: 'detached' })
  expect(new URL(page.url()).hash).toBe('#/messages?to=%2B15555550188')
  await page.reload()
  await row(page, 'for her').waitFor()
  expect(await page.locator('.row').count()).toBe(1)
  await page.getByRole('button', { name: 'Remove filter to +15555550188' }).click()
  await row(page, 'for him').waitFor()
  await page.getByRole('button', { name: 'Failed' }).click()
  await page.getByText('No message matches this filter.').waitFor()
})

test('an open message shows outcome, text, timeline and JSON, and Esc closes it', async () => {
  await using gateway = await startTestGateway()
  await send(gateway, 'look at me')
  await using opened = await openConsole(gateway.url, { hash: '#/messages' })
  const { page, complaints } = opened
  await row(page, 'look at me').click()
  const detail = page.getByRole('complementary', { name: 'Message' })
  await detail.getByRole('heading', { name: /^Delivered, known after/ }).waitFor()
  await detail.getByText('1 segment, GSM-7, 10 of 160 characters').waitFor()
  for (const line of ['Accepted', 'Attempt 1', 'Sent', 'Delivered'])
    await detail.locator('.chart-line', { hasText: line }).first().waitFor()
  await detail.getByText('JSON').click()
  expect(await detail.locator('pre').textContent()).toContain('"body": "look at me"')
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await detail.waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('a message that cannot be sent says why, and what can be done', async () => {
  await using gateway = await startTestGateway()
  await gateway.client.sms.sendAndWait({ from: '+15555550999', to: TO, body: 'from nowhere' })
  await using opened = await openConsole(gateway.url, { hash: '#/messages?status=failed' })
  const { page } = opened
  await row(page, 'number not connected').click()
  await page.getByText('+15555550999 belongs to no connected extension.').waitFor()
  await page.getByText('Send from a number of a connected extension.').waitFor()
  // It would fail again, so that is neither the first thing to press nor the loudest.
  const buttons = page.locator('.actions > *, .actions .menu > button')
  expect(await buttons.last().textContent()).toBe('Send again as new…')
  expect(await buttons.last().getAttribute('class')).toBe('button quiet')
})

test('on a phone what can be done with a message stands in one row', async () => {
  await using gateway = await startTestGateway()
  await send(gateway, 'look at me')
  await using opened = await openConsole(gateway.url, { hash: '#/messages', width: 390, height: 844 })
  const { page } = opened
  await row(page, 'look at me').click()
  await page.getByRole('link', { name: 'Phone' }).first().waitFor()
  const buttons = page.locator('.actions > .button, .actions .menu > button')
  // What is known of it comes in two steps, which move them: all are measured at once.
  const tops = (): Promise<number[]> =>
    buttons.evaluateAll((all) => all.map((button) => button.getBoundingClientRect().top))
  await until(async () => (await tops()).length === 3)
  expect(new Set(await tops()).size).toBe(1)
})

test('a webhook that fails stands in the message with its answer, and is delivered again', async () => {
  await using gateway = await startTestGateway()
  await using receiver = startReceiver(500)
  const { appId } = await gateway.client.me()
  await gateway.client.apps.update(appId ?? '', { webhookUrl: `${receiver.url}/sms` })
  const [to = ''] = gateway.numbers
  await gateway.phone(TO).reply('Where do I park?')
  await receiver.received(1)
  await using opened = await openConsole(gateway.url, { hash: `#/messages?number=${encodeURIComponent(to)}` })
  const { page, complaints } = opened
  await page.getByRole('heading', { name: /answers 500: 1 delivery never arrived\.$/ }).waitFor()
  await page.getByRole('link', { name: 'Show its deliveries' }).click()
  await page.getByRole('heading', { name: /answers 500/ }).waitFor()
  await page.goBack()
  await row(page, 'Where do I park?').click()
  const webhook = page.getByRole('region', { name: 'Webhooks' }).locator('.webhook')
  await webhook.filter({ hasText: 'HTTP 500' }).filter({ hasText: 'It answered “thanks”.' }).waitFor()
  await expectAccessible(page)
  receiver.answer = () => new Response('ok')
  await page.getByRole('button', { name: 'Deliver again' }).click()
  await webhook.filter({ hasText: 'HTTP 200' }).filter({ hasText: 'attempt 2' }).waitFor()
  await page.getByRole('button', { name: 'Deliver again' }).waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

test('on paper the open message stands alone, dark on white, from the dark theme, too', async () => {
  await using gateway = await startTestGateway()
  await send(gateway, 'for the file')
  await using opened = await openConsole(gateway.url, { hash: '#/messages', theme: 'dark' })
  const { page } = opened
  await row(page, 'for the file').click()
  await page.getByRole('heading', { name: /^Delivered, known after/ }).waitFor()
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  expect(await page.locator('.list').isVisible()).toBe(false)
  expect(await page.locator('.actions').isVisible()).toBe(false)
  const colour = (selector: string, name: string) =>
    page.evaluate<string>(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${name}`)
  expect(await colour('.outcome', 'color')).toBe('rgb(0, 0, 0)')
  expect(await colour('html', 'backgroundColor')).toBe('rgb(255, 255, 255)')
})

test('a scheduled message is no trouble: it is held until its time, and its row stays one line', async () => {
  await using gateway = await startTestGateway()
  const [from = ''] = gateway.numbers
  const sendAt = new Date(Date.now() + 86_400_000)
  await gateway.client.sms.send({ from, to: TO, body: 'Tomorrow, in so many words that the row cuts them', sendAt })
  await using opened = await openConsole(gateway.url, { hash: '#/messages', width: 390, height: 844 })
  const { page } = opened
  const reason = row(page, 'Tomorrow').locator('em')
  await reason.filter({ hasText: 'goes out tomorrow' }).waitFor()
  expect((await reason.boundingBox())?.height).toBeLessThanOrEqual(20)
  await row(page, 'Tomorrow').click()
  await page.getByText(/^It goes out tomorrow \d\d:\d\d, in 2?\d h/).waitFor()
  await page.locator('.chart-line', { hasText: 'Scheduled' }).locator('.queue').waitFor()
  expect(await page.locator('.chart-track .wait').count()).toBe(0)
})

test('a message is cancelled, and sent again as a new one, after a question', async () => {
  await using gateway = await startTestGateway()
  const [from = ''] = gateway.numbers
  const sendAt = new Date(Date.now() + 3_600_000)
  await gateway.client.sms.send({ from, to: TO, body: 'later', sendAt })
  await using opened = await openConsole(gateway.url, { hash: '#/messages' })
  const { page } = opened
  await row(page, 'later').locator('em', { hasText: 'goes out' }).waitFor()
  await row(page, 'later').click()
  await page.getByRole('button', { name: 'Cancel message…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel message' }).click()
  await page.getByRole('heading', { name: 'Cancelled before it was sent' }).waitFor()
  await page.getByRole('button', { name: 'Send again as new…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
  await page.getByRole('heading', { name: /^(Sent in|Delivered, known after)/ }).waitFor()
  expect(gateway.phone(TO).inbox.map(({ text }) => text)).toEqual(['later'])
})

test('a message is sent again with every field of its request but the time, also if it was opened by a link', async () => {
  await using gateway = await startTestGateway()
  const [from = ''] = gateway.numbers
  const { mediaId } = await gateway.client.sms.upload(new Blob([PNG], { type: 'image/png' }))
  const message = { from, to: TO, body: 'again', userId: 'user-42', mediaIds: [mediaId] }
  // A new field of a send needs a value here, and must be copied by the console's actions.tsx and src/cli/resend.ts.
  expect(Object.keys({ ...message, sendAt: null }).toSorted()).toEqual(Object.keys(SendBody.shape).toSorted())
  const { messageId } = await gateway.client.sms.sendAndWait({ ...message, sendAt: new Date(Date.now() - 1000) })
  for (const hash of ['#/messages', `#/messages?status=failed&id=${messageId}`]) {
    await using opened = await openConsole(gateway.url, { hash })
    const { page } = opened
    const request = page.waitForRequest('**/v1/sms/send')
    if (hash === '#/messages') await row(page, 'again').click()
    await page.getByRole('button', { name: 'Send again as new…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
    expect((await request).postDataJSON()).toEqual(message)
  }
})

test('the list is walked by keyboard alone', async () => {
  await using gateway = await startTestGateway()
  for (const text of ['first', 'second', 'third']) await send(gateway, text)
  await using opened = await openConsole(gateway.url, { hash: '#/messages' })
  const { page } = opened
  await row(page, 'first').waitFor()
  const current = page.locator('.row[aria-current] .text')
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await current.filter({ hasText: 'second' }).waitFor()
  await page.keyboard.press('k')
  await current.filter({ hasText: 'third' }).waitFor()
  await page.keyboard.press('Escape')
  expect(await current.count()).toBe(0)
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).getByText('copy the id of what is open').waitFor()
  await page.getByRole('dialog', { name: 'Keys' }).getByRole('button', { name: 'Close' }).click()
  await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('c')
  await page.getByRole('heading', { name: 'This phone is simulated. Nothing leaves your machine.' }).waitFor()
})

test('when scrolled, new messages come in above without moving what is visible', async () => {
  await using gateway = await startTestGateway()
  for (let number = 0; number < 60; number++) await send(gateway, `message ${number}`)
  await using opened = await openConsole(gateway.url, { hash: '#/messages' })
  const { page } = opened
  await row(page, 'message 59').waitFor()
  await page.locator('.rows').evaluate((rows) => rows.scrollTo({ top: 400 }))
  await row(page, 'message 40').waitFor()
  const before = await row(page, 'message 40').boundingBox()
  await send(gateway, 'a new one')
  await page.getByRole('button', { name: '1 new' }).waitFor()
  expect((await row(page, 'message 40').boundingBox())?.y).toBe(before?.y ?? NaN)
  await page.getByRole('button', { name: '1 new' }).click()
  await row(page, 'a new one').waitFor()
})

test('a list whose first load failed is loaded when the events come, with what is older', async () => {
  await using gateway = await startTestGateway()
  for (let number = 0; number < 55; number++) await send(gateway, `message ${number}`)
  const held = Promise.withResolvers<undefined>()
  const list = '**/v1/sms/messages?**'
  const prepare = async (page: Page): Promise<void> => {
    await page.route(list, (route) => route.fulfill({ status: 400, json: { error: 'Refused for a test' } }))
    await page.route('**/v1/ws/token', async (route) => {
      await held.promise
      await route.continue()
    })
  }
  await using opened = await openConsole(gateway.url, { hash: '#/messages', prepare })
  const { page } = opened
  await page.getByText('Refused for a test').waitFor()
  await page.unroute(list)
  held.resolve(undefined)
  await page.getByText('50 of 55 loaded, more as you scroll').waitFor()
  await page.locator('.rows').evaluate((rows) => rows.scrollTo({ top: rows.scrollHeight }))
  await page.getByText('All 55 loaded').waitFor()
})

test('privacy hides texts and numbers, and is remembered', async () => {
  await using gateway = await startTestGateway()
  await send(gateway, 'a secret')
  await using opened = await openConsole(gateway.url, { hash: '#/messages' })
  const { page } = opened
  await row(page, 'a secret').waitFor()
  await page.keyboard.press('p')
  await page.reload()
  const text = page.locator('.row .text .mask')
  await text.waitFor()
  expect(await page.evaluate("getComputedStyle(document.querySelector('.row .text .mask')).color")).toBe(
    'rgba(0, 0, 0, 0)',
  )
})

const row = (page: Page, text: string) => page.locator('.row', { hasText: text })

async function send(gateway: TestGateway, body: string, to = TO): Promise<void> {
  const [from = ''] = gateway.numbers
  await gateway.client.sms.sendAndWait({ from, to, body })
}
