import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { expectAccessible, openConsole } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { startReceiver } from '../support/receiver.ts'
import { FROM, TO, type World, createWorld } from '../support/world.ts'

const OTHER = '+15555550188'

test('filters and values are found and taken by keyboard alone, one after the other', async () => {
  await using world = await filledWorld()
  await using opened = await openConsole(world.url, { hash: '#/messages' })
  const { page, complaints } = opened
  await row(page, 'for her').waitFor()
  await page.keyboard.press('/')
  await option(page, 'state:').waitFor()
  expect(await field(page).getAttribute('aria-expanded')).toBe('true')
  expect(await field(page).getAttribute('aria-activedescendant')).toBeNull()
  await page.keyboard.type('con')
  await page.keyboard.press('Tab')
  expect(await field(page).inputValue()).toBe('contact:')
  await option(page, `contact:${OTHER}`).waitFor()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowDown')
  const chosen = page.getByRole('option', { selected: true })
  expect(await chosen.getAttribute('id')).toBe((await field(page).getAttribute('aria-activedescendant')) ?? '')
  await page.keyboard.type('0188')
  await chosen.waitFor({ state: 'detached' })
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await row(page, 'for him').waitFor({ state: 'detached' })
  expect(new URL(page.url()).hash).toBe('#/messages?contact=%2B15555550188')
  // The field keeps the focus for the next filter.
  await page.keyboard.type('state:se')
  await page.keyboard.press('Tab')
  await page.getByRole('button', { name: 'Remove filter state sent' }).waitFor()
  // The last chip is the one that stands beside the cursor.
  await page.keyboard.press('Backspace')
  await row(page, 'for him').waitFor()
  expect(new URL(page.url()).hash).toBe('#/messages?state=sent')
  expect(complaints).toEqual([])
})

test('Esc closes first the suggestions and then the field; Tab leaves the empty field; Enter without a choice asks for what was typed', async () => {
  await using world = await filledWorld()
  await using opened = await openConsole(world.url, { hash: '#/messages' })
  const { page } = opened
  await row(page, 'for her').waitFor()
  await page.keyboard.press('Control+k')
  await options(page).first().waitFor()
  await page.keyboard.press('Escape')
  await options(page).first().waitFor({ state: 'detached' })
  expect(await isFocused(page)).toBe(true)
  await page.keyboard.press('ArrowDown')
  await options(page).first().waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  expect(await isFocused(page)).toBe(false)
  await page.keyboard.press('/')
  await options(page).first().waitFor()
  await page.keyboard.press('Tab')
  expect(await isFocused(page)).toBe(false)
  await options(page).first().waitFor({ state: 'detached' })
  await page.keyboard.press('/')
  await page.keyboard.type('for him')
  await page.keyboard.press('Enter')
  await page.getByText('“for him” is in 1 of all 2 messages.').first().waitFor()
  await row(page, 'for her').waitFor({ state: 'detached' })
})

for (const [width, height, theme] of [
  [1440, 900, 'light'],
  [390, 844, 'dark'],
] as const)
  test(`at ${width} px in ${theme} suggestions are pressed, fit, and axe finds nothing`, async () => {
    await using world = await filledWorld()
    await using opened = await openConsole(world.url, { hash: '#/messages', width, height, theme })
    const { page, complaints } = opened
    await row(page, 'for her').waitFor()
    await field(page).click()
    await option(page, 'state:').waitFor()
    await page.getByText(/^\d+ suggestions$/).waitFor({ state: 'attached' })
    const box = await option(page, 'state:').boundingBox()
    expect(box?.height).toBeGreaterThanOrEqual(width === 390 ? 40 : 28)
    const list = await page.getByRole('listbox').boundingBox()
    expect((list?.x ?? -1) >= 0 && (list?.x ?? 0) + (list?.width ?? Infinity) <= width).toBe(true)
    await page.keyboard.press('ArrowDown')
    await expectAccessible(page)
    await option(page, 'state:').click()
    await option(page, 'state:waiting').waitFor()
    await expectAccessible(page)
    await option(page, 'state:failed').click()
    await page.locator('.tabs [aria-current]', { hasText: 'Failed' }).waitFor()
    await page.getByText('No message matches this filter.').waitFor()
    expect(complaints).toEqual([])
  })

test('typing asks the gateway once for the apps, once for contacts, and for nothing else', async () => {
  await using world = await filledWorld()
  await using opened = await openConsole(world.url, {
    hash: '#/messages',
    clock: 'moves',
    prepare: (page) => page.clock.install(),
  })
  const { page, requests } = opened
  await row(page, 'for her').waitFor()
  await opened.quiet()
  requests.length = 0
  await field(page).click()
  await options(page).first().waitFor()
  const asked = page.waitForResponse('**/v1/conversations?*')
  await page.keyboard.type('contact:+1555555')
  await asked
  for (const typed of ['to:', 'from:+1', 'state:', 'app:', 'after:2', 'number:+1', 'contact:+15']) {
    await field(page).fill(typed)
    await options(page).first().waitFor()
    // The typing pauses.
    await page.clock.fastForward(1000)
  }
  expect(requests.filter((request) => !request.endsWith('.js'))).toEqual(['GET /v1/apps', 'GET /v1/conversations'])
})

test('contacts of messages that are not loaded are suggested, in privacy mode without their digits', async () => {
  await using world = await filledWorld()
  await using opened = await openConsole(world.url, { hash: `#/messages?contact=${encodeURIComponent(TO)}` })
  const { page } = opened
  await row(page, 'for him').waitFor()
  await page.keyboard.press('p')
  await page.keyboard.press('/')
  await page.keyboard.type('contact:')
  await option(page, `contact:${OTHER}`).waitFor()
  const colour = `getComputedStyle(document.querySelector('.suggested .mask')).color`
  expect(await page.evaluate<string>(colour)).toBe('rgba(0, 0, 0, 0)')
})

test('in privacy mode nothing shows the digits and words that are searched for', async () => {
  await using world = await filledWorld({ outside: true })
  await using opened = await openAsOperator(world, '/messages?ends=0777&text=zebra&user=alice%40example.com')
  const { page } = opened
  await page.keyboard.press('p')
  const secrets = ['0777', 'zebra', 'alice@example.com', '987', '0199']
  const expectHidden = async (): Promise<void> => {
    const shown = await page.evaluate<string[]>(VISIBLE_TEXTS)
    expect(shown.filter((text) => secrets.some((secret) => text.includes(secret)))).toEqual([])
    expect(secrets.filter((secret) => shown.join(' ').includes(secret))).toEqual([])
  }
  await page.getByText('No message has').waitFor()
  expect(await page.locator('.chip .mask').count()).toBe(3)
  await expectHidden()
  for (const hash of [
    '#/messages?text=zebra',
    '#/messages?ends=987',
    '#/conversations?ends=987',
    '#/conversations?ends=0199',
  ]) {
    await page.evaluate(`location.hash = '${hash}'`)
    await page.locator('html.private').waitFor()
    await page.locator('.chip .mask').waitFor({ timeout: 5000 })
    await page.locator('.empty .mask, .sentence .mask').first().waitFor()
    await expectHidden()
  }
})

/** What can be read on the page: nothing that is drawn as a bar, or only for screen readers. */
const VISIBLE_TEXTS = `[...function* texts(node) {
  const style = node.nodeType === 1 ? getComputedStyle(node) : null
  if (style?.color === 'rgba(0, 0, 0, 0)' || style?.clipPath === 'inset(50%)' || style?.display === 'none') return
  if (node.nodeType === 3) yield node.data
  for (const child of node.childNodes) yield* texts(child)
}(document.body), document.title]`

test('attempts of webhooks are searched in the same way, an app by its name', async () => {
  await using world = await createWorld()
  await using receiver = startReceiver(500)
  const { appId } = world.app
  await world.json('PUT', `/v1/apps/${appId}`, { body: { webhookUrl: receiver.url } })
  await world.control.injectSms({ from: OTHER, to: FROM, text: 'Hello' })
  await receiver.received(1)
  await using opened = await openConsole(world.url, { hash: '#/webhooks' })
  const { page, complaints } = opened
  await page.locator('.row').first().waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('first')
  await option(page, 'app:First app').waitFor()
  await page.keyboard.press('ArrowDown')
  await expectAccessible(page)
  await page.keyboard.press('Enter')
  expect(new URL(page.url()).hash).toBe(`#/webhooks?app=${appId}`)
  await page.getByRole('button', { name: 'Remove filter app' }).waitFor()
  await page.keyboard.type('outcome:t')
  await page.keyboard.press('Tab')
  await page.getByRole('button', { name: 'Remove filter outcome timeout' }).waitFor()
  await page.getByText('No delivery matches this filter.').waitFor()
  await page.keyboard.type('hello')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').filter({ hasText: 'Invalid filter: “hello”.' }).waitFor()
  expect(complaints).toEqual([])
})

/** Two messages to two people. */
async function filledWorld(options = {}): Promise<World> {
  const world = await createWorld(options)
  await world.untilStatus(await world.send({ body: 'for him' }))
  await world.untilStatus(await world.send({ body: 'for her', to: OTHER }))
  return world
}

const row = (page: Page, text: string) => page.locator('.row', { hasText: text })
const field = (page: Page) => page.locator('[data-search]')
const options = (page: Page) => page.getByRole('option')
/** A suggestion by what it asks for. */
const option = (page: Page, text: string) =>
  options(page).filter({ has: page.locator('.suggested', { hasText: new RegExp(`^${RegExp.escape(text)}$`) }) })
const isFocused = (page: Page): Promise<boolean> => page.evaluate('document.activeElement.matches("[data-search]")')
