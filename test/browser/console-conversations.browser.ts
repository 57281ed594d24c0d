import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { Sgw } from '../../src/client/client.ts'
import { expectAccessible, openConsole } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { startCuttableProxy } from '../support/cuttable.ts'
import { startReceiver } from '../support/receiver.ts'
import { FROM, FROM_2, TO, type World, createWorld, until } from '../support/world.ts'

const OTHER = '+15555550144'

test('conversations are found, opened, answered and closed by the keyboard alone', async () => {
  await using world = await createWorld({ outside: true })
  await world.untilStatus(await world.send({ body: 'first', to: OTHER }))
  await world.untilStatus(await world.send({ body: 'second' }))
  await using opened = await openAsOperator(world, '/overview')
  const { page, complaints } = opened
  await page.locator('.rail-item[aria-current]', { hasText: 'Overview' }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('c')
  await page.getByRole('heading', { name: '2 conversations, none needs your answer.' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await said(page, 'first').waitFor()
  expect(new URL(page.url()).hash).toBe(`#${pairView(FROM, OTHER)}`)
  await page.getByRole('heading', { name: OTHER }).waitFor()
  // What is open changes with the cursor, and what is written stays.
  await page.getByLabel('Write a text').fill('not sent yet')
  await page.keyboard.press('Escape')
  await page.keyboard.press('k')
  await said(page, 'second').waitFor()
  expect(await page.getByLabel('Write a text').inputValue()).toBe('')
  await page.keyboard.press('j')
  await said(page, 'first').waitFor()
  await page.keyboard.press('r')
  await page.locator('textarea:focus').waitFor()
  expect(await page.getByLabel('Write a text').inputValue()).toBe('not sent yet')
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('jk are letters here')
  await page.getByText('1 segment, GSM-7, 19 of 160 characters').waitFor()
  await page.keyboard.press('Enter')
  await said(page, 'jk are letters here').waitFor()
  await note(page, /^sent in /)
    .nth(1)
    .waitFor()
  await row(page, 'jk are letters here').waitFor()
  expect(await page.getByLabel('Write a text').inputValue()).toBe('')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await page.locator('.conversation').waitFor({ state: 'detached' })
  await until(async () => (await page.evaluate('document.activeElement.dataset.id')) === `${FROM} ${OTHER}`)
  expect(sentTo(world, OTHER)).toEqual(['first', 'jk are letters here'])
  expect(complaints).toEqual([])
})

test('a text of a contact arrives live in the list and in the thread, and moves nothing that somebody reads', async () => {
  await using world = await createWorld({ outside: true })
  const texts = Array.from({ length: 40 }, (_, index) => `text ${index} that is long enough to fill the thread`)
  for (const body of texts) await world.send({ body })
  await world.send({ body: 'another', to: OTHER })
  await using opened = await openAsOperator(world, pairView(FROM, TO))
  const { page, complaints } = opened
  await said(page, 'text 39').waitFor()
  // A page begins with the oldest text that is there.
  for (const oldest of ['text 1 that', 'text 0 that']) {
    await page.getByRole('button', { name: 'Show older texts' }).click()
    await said(page, oldest).waitFor()
  }
  await page.getByRole('button', { name: 'Show older texts' }).waitFor({ state: 'detached' })
  expect(await page.locator('.said').allTextContents()).toEqual(texts)
  await receive(world, TO, 'I read at the end')
  await said(page, 'I read at the end').waitFor()
  await row(page, 'I read at the end').waitFor()
  await page.getByRole('heading', { name: '1 of 2 conversations needs your answer.' }).waitFor()
  await page.locator('.thread').evaluate((thread) => thread.scrollTo({ top: -1000 }))
  const before = await said(page, 'text 20').boundingBox()
  await receive(world, TO, 'I read further up')
  await page.getByRole('button', { name: 'New text' }).waitFor()
  expect((await said(page, 'text 20').boundingBox())?.y).toBe(before?.y)
  await page.getByRole('button', { name: 'New text' }).click()
  await page.getByRole('button', { name: 'New text' }).waitFor({ state: 'detached' })
  expect(await page.locator('.thread').evaluate(({ scrollTop }) => scrollTop)).toBe(0)
  expect(complaints).toEqual([])
})

test('a text is scheduled, says when it goes out, and is cancelled', async () => {
  await using world = await createWorld({ outside: true })
  await using opened = await openAsOperator(world, pairView(FROM, TO))
  const { page, complaints } = opened
  await page.getByLabel('Write a text').fill('Until later')
  await page.getByRole('button', { name: 'Send later…' }).click()
  const field = page.getByLabel('Goes out at')
  await field.fill('2020-01-01T09:00')
  await page.getByText('This time has passed, so the text goes out at once.').waitFor()
  await field.fill('2999-01-01T09:00')
  await page.getByText('A text can be scheduled 30 days ahead.').waitFor()
  expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Send at once instead' }).click()
  await page.locator('textarea:focus').waitFor()
  await page.getByRole('button', { name: 'Send later…' }).press('Enter')
  await page.locator('input[type=datetime-local]:focus').press('Enter')
  await note(page, /^goes out /).waitFor()
  await expectAccessible(page)
  // The time and Cancel… stand just before the field.
  await page.locator('textarea:focus').press('Shift+Tab')
  await page.keyboard.press('Shift+Tab')
  await page.locator('button:focus', { hasText: 'Cancel…' }).press('Enter')
  await page.getByRole('button', { name: 'Cancel message' }).click()
  await note(page, 'cancelled').waitFor()
  await row(page, 'Until later').locator('.state', { hasText: 'Cancelled' }).waitFor({ state: 'attached' })
  expect(await page.locator('.row.bad').count()).toBe(0)
  await page.getByRole('button', { name: 'Send later…' }).waitFor()
  expect(sentTo(world, TO)).toEqual([])
  expect(complaints).toEqual([])
})

test('what waits for a contact that opted out is cancelled at the notice that says so, all at once', async () => {
  await using world = await createWorld({ outside: true })
  const sendAt = new Date(Date.now() + 3_600_000).toISOString()
  const first = await world.send({ body: 'first', sendAt })
  await world.send({ body: 'second', sendAt })
  await using opened = await openAsOperator(world, pairView(FROM, TO))
  const { page, complaints } = opened
  await said(page, 'second').waitFor()
  await page.getByRole('button', { name: 'Opt out…' }).click()
  await page.getByRole('button', { name: 'Record opt-out' }).click()
  const optOut = page.getByRole('region', { name: 'Opt-out' })
  await optOut.getByText(/^Opt-out recorded at .+, but the 2 waiting texts will be sent anyway\.$/).waitFor()
  await expectAccessible(page)
  await optOut.getByRole('button', { name: 'Cancel the 2 waiting texts…' }).click()
  // The notice has the button for both.
  expect(await page.getByRole('button', { name: 'Cancel…' }).count()).toBe(0)
  const asked = page.getByRole('dialog', { name: 'Cancel 2 messages' })
  await asked.waitFor()
  // One cannot be cancelled: the other one is all the same, and is not asked for again.
  const path = `**/v1/sms/${first}`
  const refuse = async (status: number): Promise<void> =>
    void (await page.route(path, (route) => route.fulfill({ status, json: { error: 'Refused for a test' } })))
  await refuse(409)
  await asked.getByRole('button', { name: 'Cancel messages' }).click()
  await asked.getByText('1 of 2 could no longer be cancelled.').waitFor()
  await note(page, 'cancelled').waitFor()
  await refuse(403)
  await asked.getByRole('button', { name: 'Cancel messages' }).click()
  await asked.getByText('Refused for a test').waitFor()
  await page.unroute(path)
  await asked.getByRole('button', { name: 'Cancel messages' }).click()
  await asked.waitFor({ state: 'detached' })
  await optOut.getByText(/^Recorded as opted out .*\. Texts to this contact are still sent\.$/).waitFor()
  await until(async () => (await page.locator('.said-note', { hasText: 'cancelled' }).count()) === 2)
  expect((await clientOf(world).sms.list({ state: 'cancelled' }).page(1)).total).toBe(2)
  // RingCentral knows of a STOP, too.
  await clientOf(world).optOuts.set({ number: FROM, contact: TO, optedOut: false })
  await receive(world, TO, 'STOP')
  await world.send({ body: 'third', sendAt })
  await optOut
    .getByText(/^This person opted out at .+\. RingCentral still gets the waiting text, and does not deliver it\.$/)
    .waitFor()
  expect(sentTo(world, TO)).toEqual([])
  expect(complaints).toEqual([expect.stringContaining('409'), expect.stringContaining('403')])
})

test('an opt-out is recorded and ended here, and says by what it came and what the policy does', async () => {
  await using world = await createWorld({ outside: true })
  const sgw = clientOf(world)
  await world.untilStatus(await world.send({ body: 'before' }))
  await using opened = await openAsOperator(world, pairView(FROM, TO))
  const { page, complaints } = opened
  const optOut = page.getByRole('region', { name: 'Opt-out' })
  await page.getByRole('button', { name: 'Opt out…' }).click()
  await page.getByRole('dialog').getByText('The policy is observe. Texts to this contact are still sent.').waitFor()
  await page.getByRole('dialog').getByText(TO).waitFor()
  await page.getByRole('button', { name: 'Record opt-out' }).click()
  await optOut
    .getByText(/^Recorded as opted out by an app or in this console, .*\. Texts to this contact are still sent\.$/)
    .waitFor()
  await page.locator('.row', { hasText: 'opted out' }).waitFor()
  expect((await sgw.optOuts.list().page(1)).optOuts).toMatchObject([{ number: FROM, contact: TO, source: 'api' }])
  await expectAccessible(page)
  await optOut.getByRole('button', { name: 'Opt in again…' }).click()
  await page.getByRole('button', { name: 'Opt in', exact: true }).click()
  await optOut.waitFor({ state: 'detached' })
  expect((await sgw.optOuts.list().page(1)).total).toBe(0)
  await sgw.optOuts.setPolicy('block')
  await page.reload()
  await said(page, 'before').waitFor()
  await receive(world, TO, 'STOP')
  await optOut.getByText(/^This person asked for no more texts, .*\. Texts to this contact are not sent\.$/).waitFor()
  await page.getByLabel('Write a text').fill('Are you sure?')
  await page.keyboard.press('Enter')
  await page.locator('.said-note.bad', { hasText: 'not sent: recipient opted out' }).waitFor()
  await said(page, 'Are you sure?').waitFor()
  expect(sentTo(world, TO)).toEqual(['before'])
  expect(complaints).toEqual([])
})

test('last digits find a contact, a whole number opens its conversation or starts one, and words are looked for in messages', async () => {
  await using world = await createWorld({ outside: true })
  await world.untilStatus(await world.send({ body: 'from the second', from: FROM_2, to: OTHER }))
  await using opened = await openAsOperator(world, '/conversations')
  const { page, complaints } = opened
  await row(page, 'from the second').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('5550177')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'No contact’s number ends with 5550177.' }).waitFor()
  await expectAccessible(page)
  await page.getByText('type the whole number with its country').waitFor()
  await search(page).fill('+1 (555) 555-0177')
  await page.keyboard.press('Enter')
  await page.getByText('No texts yet. The first one starts the conversation.').waitFor()
  // Who starts a conversation wants to write.
  await page.locator('textarea:focus').waitFor()
  // That of the last conversation.
  await page.locator('.composer-pair', { hasText: FROM_2 }).waitFor()
  await page.getByRole('button', { name: /^Number/ }).click()
  await page.getByRole('menuitemradio', { name: '+1 555 555 0100' }).click()
  await page.locator('.composer-pair', { hasText: FROM }).waitFor()
  await page.getByLabel('Write a text').fill('Nice to meet you')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await row(page, 'Nice to meet you').waitFor()
  await until(() => sentTo(world, '+15555550177').length > 0)
  expect(world.control.messages().at(-1)).toMatchObject({ from: FROM, to: ['+15555550177'] })
  await search(page).fill(OTHER)
  await page.keyboard.press('Enter')
  await said(page, 'from the second').waitFor()
  // The only one that ends so is opened, too.
  await search(page).fill('555-0177')
  await page.keyboard.press('Enter')
  await said(page, 'Nice to meet you').waitFor()
  await receive(world, 'Pizza 24', 'Your pizza is ready')
  await search(page).fill('Pizza 24')
  await page.keyboard.press('Enter')
  await said(page, 'Your pizza is ready').waitFor()
  await search(page).fill('meet')
  await page.keyboard.press('Enter')
  await page.getByText('“meet” is in 1 of all 3 messages.').first().waitFor()
  expect(complaints).toEqual([])
})

test('an address that names no conversation leads to the list', async () => {
  await using world = await createWorld({ outside: true })
  await world.untilStatus(await world.send({ body: 'there' }))
  const pairs = [
    ['javascript:alert(1)', TO],
    ['', TO],
    [FROM, ''],
    [FROM, '9'.repeat(65)],
    [FROM, 'a\u0000b'],
  ] as const
  for (const [number, contact] of pairs) {
    await using opened = await openConsole(world.url, { key: world.key, hash: `#${pairView(number, contact)}` })
    const { page, complaints } = opened
    await row(page, 'there').waitFor()
    expect(await page.locator('.conversation').count()).toBe(0)
    expect(complaints).toEqual([])
  }
})

test('a conversation says why its newest text failed or was not delivered, as Messages does', async () => {
  await using world = await createWorld({ outside: true })
  await world.untilStatus(await world.send({ from: '+15555550999', to: '+15555550291' }), ['failed'])
  world.control.planNextSms({ messageStatus: 'DeliveryFailed', deliveryErrorCode: 'SMS-CAR-430' })
  await world.send({ to: '+15555550292' })
  const isKnown = async (): Promise<boolean> =>
    (await world.json<{ total: number }>('GET', '/v1/sms/messages?state=undelivered')).body.total === 1
  await until(isKnown)
  await using opened = await openAsOperator(world, '/conversations')
  const { page } = opened
  const reasons = async (): Promise<string[]> => {
    await page.locator('.row em').nth(1).waitFor()
    return page.locator('.row em').allTextContents()
  }
  const said = await reasons()
  expect(said).toEqual(['refused as spam', 'number not connected'])
  await page.evaluate(`location.hash = '#/messages'`)
  await page.getByRole('heading', { name: 'failed' }).waitFor()
  expect(await reasons()).toEqual(said)
})

test('a short code can be read and not be texted', async () => {
  await using world = await createWorld({ outside: true })
  await receive(world, '72975', 'Your code is 4711')
  await using opened = await openAsOperator(world, '/conversations')
  const { page, complaints } = opened
  await row(page, 'Your code is 4711').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('72975')
  await page.keyboard.press('Enter')
  await said(page, 'Your code is 4711').waitFor()
  await page.getByText('72975 is not a phone number, so you cannot send to it. It can only text you.').waitFor()
  expect(await page.getByLabel('Write a text').count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Opt out…' }).count()).toBe(0)
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

test('a message leads to its conversation, and a bubble to all about its message', async () => {
  await using world = await createWorld({ outside: true })
  await using broken = startReceiver(500)
  await clientOf(world).apps.update(world.app.appId, { webhookUrl: broken.url })
  const failed = await world.send({ body: 'to nobody', from: '+15555550999' })
  await world.untilStatus(failed)
  await receive(world, TO, 'Where do I park?')
  await broken.received(1)
  await until(async () => {
    const { messages } = await clientOf(world).sms.list({ direction: 'inbound', include: 'delivery' }).page(1)
    return messages[0]?.webhooks?.failed === 1
  })
  await using opened = await openAsOperator(world, `/messages?id=${failed}`)
  const { page, complaints } = opened
  await page.getByTitle('Show the conversation').click()
  await page.locator('.said-note.bad', { hasText: 'not sent: number not connected' }).waitFor()
  await page.getByRole('link', { name: 'all about this text' }).click()
  await page.getByRole('heading', { name: 'Failed without an attempt' }).waitFor()
  await page.goBack()
  await said(page, 'to nobody').waitFor()
  await row(page, 'Where do I park?').click()
  await page.locator('.said-note.inbound.bad', { hasText: /^webhook (answered 500|failed)/ }).waitFor()
  await page.getByRole('link', { name: 'Messages' }).last().click()
  await page.locator('.chip', { hasText: 'contact' }).waitFor()
  expect(complaints).toEqual([])
})

test('offline a text stays, and what came meanwhile is there on return', async () => {
  await using world = await createWorld({ outside: true })
  await world.untilStatus(await world.send({ body: 'before' }))
  using proxy = startCuttableProxy(world.url)
  await using opened = await openConsole(proxy.url, { key: world.key, hash: `#${pairView(FROM, TO)}` })
  const { page } = opened
  await said(page, 'before').waitFor()
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
  proxy.cut()
  await page.locator('.offline-bar', { hasText: /^Offline since \d\d:\d\d:\d\d\./ }).waitFor()
  await page.getByLabel('Write a text').fill('written offline')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('alert').filter({ hasText: 'Your text stays here.' }).waitFor()
  await receive(world, TO, 'while you were away')
  proxy.mend()
  await said(page, 'while you were away').waitFor()
  await row(page, 'while you were away').waitFor()
  expect(await page.getByLabel('Write a text').inputValue()).toBe('written offline')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await said(page, 'written offline').waitFor()
})

test('what could not be loaded says so, and is loaded by a button', async () => {
  await using world = await createWorld({ outside: true })
  await world.untilStatus(await world.send({ body: 'there' }))
  await clientOf(world).optOuts.set({ number: FROM, contact: TO, optedOut: true })
  await using opened = await openConsole(world.url, { key: world.key, hash: '#/messages' })
  const { page } = opened
  await row(page, 'there').waitFor()
  const reads = /conversations\?|messages\?.*contact|opt-outs/
  await page.route(reads, (route) => route.fulfill({ status: 500, json: { error: 'Broken' } }))
  await page.goto(`${new URL(page.url()).origin}/console/#${pairView(FROM, TO)}`)
  const failures = page.getByRole('alert')
  await failures.filter({ hasText: 'The conversations could not be loaded.' }).waitFor()
  await failures
    .filter({ hasText: 'The conversation could not be loaded.' })
    .getByText('The gateway says: Broken.')
    .waitFor()
  await page.unroute(reads)
  for (let left = 2; left > 0; left--) await page.getByRole('button', { name: 'Try again' }).first().click()
  await said(page, 'there').waitFor()
  await row(page, 'there').waitFor()
  await page.getByRole('region', { name: 'Opt-out' }).getByText('Texts to this contact are still sent').waitFor()
})

test('a text reaches the open thread, whatever keeps the list from being read', async () => {
  await using world = await createWorld({ outside: true })
  await world.untilStatus(await world.send({ body: 'before' }))
  await using opened = await openAsOperator(world, pairView(FROM, TO))
  const { page } = opened
  await row(page, 'before').waitFor()
  await said(page, 'before').waitFor()
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
  await page.route(/conversations\?/, (route) => route.abort())
  await receive(world, TO, 'at once')
  await said(page, 'at once').waitFor()
  await row(page, 'before').waitFor()
})

test('what comes between the first reading and the first event is there without another one', async () => {
  await using world = await createWorld({ outside: true })
  let newest = 'known before'
  await world.untilStatus(await world.send({ body: newest }))
  for (const view of ['/messages', '/conversations', pairView(FROM, TO)]) {
    const held = Promise.withResolvers<undefined>()
    const prepare = async (page: Page): Promise<void> => {
      await page.route('**/v1/ws/token', async (route) => {
        await held.promise
        await route.continue()
      })
    }
    await using opened = await openAsOperator(world, view, { prepare })
    const { page } = opened
    await page.getByText(newest).filter({ visible: true }).first().waitFor()
    newest = `came in ${view}`
    await receive(world, TO, newest)
    held.resolve(undefined)
    await page.getByText(newest).filter({ visible: true }).first().waitFor()
  }
})

const row = (page: Page, text: string) => page.locator('.row', { hasText: text })
const said = (page: Page, text: string) => page.locator('.said', { hasText: text })
const note = (page: Page, text: string | RegExp) => page.locator('.said-note', { hasText: text })

const pairView = (number: string, contact: string): string =>
  `/conversations?${new URLSearchParams({ number, contact }).toString()}`

const clientOf = (world: World): Sgw => new Sgw({ baseUrl: world.url, apiKey: world.key })

/** What the provider got for a contact, oldest first. */
const sentTo = (world: World, contact: string): (string | null)[] =>
  world.control
    .messages({ direction: 'Outbound' })
    .filter(({ to }) => to.includes(contact))
    .map(({ text }) => text)

/** Texts as a contact, once the gateway hears of it, until it is stored. */
async function receive(world: World, from: string, text: string): Promise<void> {
  await until(() => world.control.subscriptions().length > 0)
  await world.control.injectSms({ from, to: FROM, text })
  await until(async () => {
    const { messages } = await clientOf(world).sms.list({ direction: 'inbound', contact: from, number: FROM }).page(1)
    return messages.some(({ body }) => body === text)
  })
}
const search = (page: Page) => page.getByLabel('Search conversations')
