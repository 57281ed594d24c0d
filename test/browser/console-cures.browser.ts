import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { Sgw } from '../../src/client/client.ts'
import { ICON_PATHS } from '../../src/console/page/parts/icon-paths.ts'
import { expectAccessible, firstLoad, openConsole, openView, show } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { startCuttableProxy } from '../support/cuttable.ts'
import { startReceiver } from '../support/receiver.ts'
import { setRetryPolicy, setWebhookUrl } from '../support/retries.ts'
import { openScene } from '../support/scene-page.ts'
import { createScene } from '../support/scenes.ts'
import { FROM, TO, createWorld } from '../support/world.ts'

/** Of bench/README.md. */
const MAX_REQUESTS = 10
const PAIR = `/conversations?${new URLSearchParams({ number: FROM, contact: TO }).toString()}`

test('the cure of a revoked extension has one name and leads to both ways, wherever it is offered', async () => {
  await using world = await createWorld()
  for (const { extensionId } of world.control.extensions()) world.control.revokeTokens({ extensionId })
  const id = await world.send()
  await world.untilStatus(id, ['failed'])
  await using opened = await openConsole(world.url, { hash: '#/messages' })
  const { page, complaints } = opened
  for (const [view, where] of [
    ['messages', '.list-head'],
    [`messages?id=${id}`, '.detail'],
    ['overview', '.overview-head'],
    ['numbers', '.thing'],
  ] as const) {
    await openView(page, `/${view}`)
    const cure = page.locator(where)
    await cure.getByRole('button', { name: 'Authorize again' }).click()
    expect([view, await cure.getByRole('button', { name: 'Make invite link' }).count()]).toEqual([view, 0])
    const dialog = page.getByRole('dialog', { name: /^Authorize .*extension.* again$/ })
    const link = await dialog.getByRole('link', { name: 'Go to RingCentral' }).getAttribute('href')
    expect(new URL(link ?? '').pathname).toStartWith('/v1/rc/')
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Make invite link' }).click()
    await page.getByRole('dialog', { name: 'Invite link' }).locator('.mono', { hasText: '/v1/rc/' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  }
})

test('a webhook that fails says since when, and when it is tried again or that it is not', async () => {
  await using world = await createWorld()
  await using receiver = startReceiver(500)
  await setWebhookUrl(world, receiver.url)
  await setRetryPolicy(world, 'none')
  const fail = async (): Promise<void> => {
    const before = receiver.requests.length
    await world.control.injectSms({ text: 'Hello' })
    await receiver.received(before + 1)
  }
  await fail()
  await using opened = await openConsole(world.url, { hash: '#/webhooks', width: 390, height: 844 })
  const { page, complaints } = opened
  const head = page.locator('.list-head')
  await head.getByRole('heading', { name: /answers 500: 1 delivery never arrived since \d\d:\d\d:\d\d\.$/ }).waitFor()
  await head.getByText('Failed deliveries are not tried again automatically.').waitFor()
  await head.getByRole('button', { name: 'Deliver it again' }).waitFor()
  await expectAccessible(page)
  await setRetryPolicy(world, 'short')
  await fail()
  await page.reload()
  await head.getByText(/^Next attempt at \d\d:\d\d:\d\d\.$/).waitFor()
  await page.getByRole('link', { name: 'Overview' }).last().click()
  await page
    .locator('.overview-lead', { hasText: /^Since \d\d:\d\d:\d\d\. Next attempt at \d\d:\d\d:\d\d\.$/ })
    .waitFor()
  expect(complaints).toEqual([])
})

test('what keeps a text from arriving stands directly above the field to write in, with its button', async () => {
  await using world = await createWorld({ outside: true })
  await world.untilStatus(await world.send({ body: 'before' }))
  for (const { extensionId } of world.control.extensions()) world.control.revokeTokens({ extensionId })
  await world.untilStatus(await world.send({ body: 'after' }), ['failed'])
  await using opened = await openAsOperator(world, PAIR, { width: 390, height: 844, theme: 'dark' })
  const { page, complaints } = opened
  const number = page.getByRole('region', { name: 'Number' })
  await number
    .getByText(
      /^Extension .* was revoked: .* cannot send or receive, since .*\. Its messages fail\. Authorize it, then send them again\./,
    )
    .waitFor()
  await page.locator('.composer-pair .bad', { hasText: 'cannot send' }).waitFor()
  expect(await endsAboveField(page, 'Number')).toBe(true)
  await new Sgw({ baseUrl: world.url, apiKey: world.key }).optOuts.set({ number: FROM, contact: TO, optedOut: true })
  const optOut = page.getByRole('region', { name: 'Opt-out' })
  await optOut.getByRole('button', { name: 'Opt in again…' }).waitFor()
  expect(await endsAboveField(page, 'Opt-out')).toBe(true)
  const first = page.locator('.notice .primary')
  expect(await first.allTextContents()).toEqual(['Authorize again'])
  await expectAccessible(page)
  // Authorizing would let a text go out that nobody wants any more.
  await world.send({ body: 'later', sendAt: new Date(Date.now() + 3_600_000).toISOString() })
  await optOut.getByRole('button', { name: 'Cancel the waiting text…' }).waitFor()
  expect(await first.allTextContents()).toEqual(['Cancel the waiting text…'])
  // A text that was never sent looks otherwise than one that may arrive.
  const edgeOf = (selector: string): Promise<string> => styleOf(page, selector, 'borderTopStyle')
  await page.locator('.said.outbound.pending', { hasText: 'after' }).waitFor()
  expect([await edgeOf('.said.outbound'), await edgeOf('.said.outbound.pending')]).toEqual(['none', 'dashed'])
  await number.getByRole('button', { name: 'Authorize again' }).click()
  await page.getByRole('dialog', { name: /^Authorize extension .* again$/ }).waitFor()
  expect(complaints).toEqual([])
})

test('a conversation on a number that no extension has says so, and leads to the numbers', async () => {
  await using world = await createWorld({ outside: true })
  const pair = new URLSearchParams({ number: '+15555550999', contact: TO }).toString()
  await using opened = await openAsOperator(world, `/conversations?${pair}`)
  const { page, complaints } = opened
  const number = page.getByRole('region', { name: 'Number' })
  await number.getByText('+15555550999 belongs to no connected extension. A text from it fails.').waitFor()
  await number.getByRole('link', { name: 'Show numbers' }).click()
  await page.getByRole('heading', { name: 'Both numbers can send and receive.' }).waitFor()
  expect(complaints).toEqual([])
})

const styleOf = (page: Page, selector: string, property: string): Promise<string> =>
  page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).${property}`)

/** Of an element's text with its ground; axe leaves out what is disabled. */
const CONTRAST = `(element) => {
  const { color, backgroundColor, opacity } = getComputedStyle(element)
  const context = document.createElement('canvas').getContext('2d')
  const luminance = (colour) => {
    context.fillStyle = colour
    context.fillRect(0, 0, 1, 1)
    const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((part) =>
      part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [dark, light] = [luminance(color), luminance(backgroundColor)].sort((a, b) => a - b)
  return opacity * (light + 0.05) / (dark + 0.05)
}`

/** Whether nothing stands between a region and the field. */
const endsAboveField = (page: Page, name: string): Promise<boolean> =>
  page.getByRole('region', { name }).evaluate(({ nextElementSibling: next }) => next?.matches('.composer') === true)

test('a link to a conversation with a contact that opted out takes few requests', async () => {
  await using world = await createWorld({ outside: true })
  await world.untilStatus(await world.send({ body: 'before' }))
  await new Sgw({ baseUrl: world.url, apiKey: world.key }).optOuts.set({ number: FROM, contact: TO, optedOut: true })
  await using opened = await openAsOperator(world, PAIR)
  const { page, requests } = opened
  await page.getByText('Texts to this contact are still sent').waitFor()
  await opened.quiet()
  requests.length = 0
  await page.reload()
  await page.getByText('Texts to this contact are still sent').waitFor()
  await opened.quiet()
  expect(firstLoad(requests).length, requests.join('\n')).toBeLessThanOrEqual(MAX_REQUESTS)
})

test('a text that was not delivered has the icon and the word of that in its row', async () => {
  await using world = await createWorld()
  // Not in the answer to the send already, and before the first poll.
  world.control.configure({ deliveredAfterMs: 4000 })
  world.control.planNextSms({ messageStatus: 'DeliveryFailed', deliveryErrorCode: 'SMS-CAR-411' })
  await world.send({ body: 'never arrives' })
  await using opened = await openConsole(world.url, { hash: '#/messages' })
  const { page } = opened
  const state = page.locator('.row', { hasText: 'never arrives' }).locator('.state', { hasText: 'Not delivered' })
  await state.waitFor()
  expect(await state.locator('path').getAttribute('d')).toBe(ICON_PATHS.undelivered)
  expect(await styleOf(page, '.row.bad .state', 'color')).toBe(await styleOf(page, '.row.bad em', 'color'))
  expect(await styleOf(page, '.row.bad .state', 'color')).not.toBe(await styleOf(page, '.row.bad .text', 'color'))
})

test('offline is said once at every width', async () => {
  await using world = await createWorld()
  using proxy = startCuttableProxy(world.url)
  await using opened = await openConsole(proxy.url, { hash: '#/messages' })
  const { page } = opened
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
  proxy.cut()
  await page.locator('.offline-bar').waitFor()
  for (const width of [1440, 1024, 390]) {
    await page.setViewportSize({ width, height: 844 })
    const said = await page
      .getByText(/Offline since/)
      .filter({ visible: true })
      .count()
    expect([width, said]).toEqual([width, 1])
  }
})

test('on the phone a title stands in no life line, our text has its own ground, and a button that does nothing yet can be read', async () => {
  await using world = await createWorld()
  world.control.configure({ deliveredAfterMs: 1 })
  await world.untilStatus(await world.send({ body: 'A text that is long enough to reach over some of the lines' }))
  await using opened = await openConsole(world.url, { hash: '#/phone' })
  const { page } = opened
  for (const theme of ['light', 'dark'] as const) {
    await show(page, [1440, 900, theme])
    await page.locator('.group-title').waitFor()
    const text = page.locator('.said.outbound:not(.pending)')
    await text.waitFor()
    expect(await page.locator('.group-head .lines').count()).toBe(0)
    const groundOf = (selector: string): Promise<string> => styleOf(page, selector, 'backgroundColor')
    expect(await groundOf('.said.outbound')).toBe(await groundOf('.faults label:has(:checked)'))
    const send = page.getByRole('button', { name: 'Send from your app' })
    expect(await send.isDisabled()).toBe(true)
    expect(
      await page.evaluate<number>(`(${CONTRAST})(document.querySelector('.composer .button.primary'))`),
    ).toBeGreaterThan(4.5)
  }
})

test('on a phone Setup says how each extension is where its numbers begin', async () => {
  await using scene = await createScene('ten messages')
  await using opened = await openScene(scene, { width: 390, height: 844, theme: 'dark', hash: '#/numbers' })
  const { page } = opened
  const left = (name: string): Promise<number[]> =>
    page.locator(name).evaluateAll((all) => all.map((each) => each.getBoundingClientRect().left))
  const [states, numbers] = [await left('.thing-head .state'), await left('.thing-numbers')]
  expect(states.length).toBe(2)
  expect(states).toEqual(numbers)
})
