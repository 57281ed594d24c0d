import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { expectAccessible } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'

const PAIR = `/conversations?${new URLSearchParams({ number: FROM, contact: TO })}`
const VIEWS = ['/all', '/overview', '/messages', PAIR, '/webhooks', '/numbers', '/apps', '/tenants']

for (const [width, height] of [
  [1440, 900],
  [1440, 500],
  [390, 844],
  [320, 568],
] as const)
  test(`at ${width} × ${height} no view scrolls the document, with the checks unfolded, too`, async () => {
    await using world = await filledWorld()
    await using opened = await openAsOperator(world, '/overview', { width, height })
    const { page, complaints } = opened
    for (const view of VIEWS) {
      await page.evaluate(`location.hash = ${JSON.stringify(view)}`)
      await opened.quiet()
      const checks = page.getByRole('button', { name: 'Show checks' })
      if (view === '/overview') await checks.click()
      if (view === '/overview') await page.locator('.checks li').first().waitFor()
      expect([view, await beyond(page)]).toEqual([view, [0, 0]])
    }
    expect(complaints).toEqual([])
  })

/** How far the document can be scrolled, sideways and down. */
const beyond = (page: Page): Promise<[number, number]> =>
  page.evaluate<[number, number]>(`(() => {
    const { scrollWidth, scrollHeight } = document.documentElement
    return [scrollWidth - innerWidth, scrollHeight - innerHeight]
  })()`)

test('with forced colours what is current, what is chosen, bubbles and bars have edges', async () => {
  await using world = await filledWorld()
  await using opened = await openAsOperator(world, '/overview')
  const { page } = opened
  await page.emulateMedia({ forcedColors: 'active' })
  await page.locator('.bar .bar-mark').first().waitFor()
  expect(await edges(page, '.rail-item[aria-current]')).toBe(true)
  expect(await edges(page, '.segmented [aria-pressed=true]')).toBe(true)
  expect(await edges(page, '.bar .bar-mark')).toBe(true)
  // What each bar counts is told by its ground, as in the legend.
  const grounds = `[...document.querySelectorAll('.figure-word .bar-mark')].map((mark) => getComputedStyle(mark).background)`
  expect(new Set(await page.evaluate<string[]>(grounds)).size).toBe(
    await page.locator('.figure-word .bar-mark').count(),
  )
  await page.evaluate(`location.hash = '/messages'`)
  await page.locator('.row').first().click()
  await page.locator('.chart-track i').first().waitFor()
  for (const selector of ['.row[aria-current]', '.tabs [aria-current]', '.bubble', '.chart-track i'])
    expect([selector, await edges(page, selector)]).toEqual([selector, true])
  await page.evaluate(`location.hash = ${JSON.stringify(PAIR)}`)
  await page.locator('.said').first().waitFor()
  expect(await edges(page, '.said')).toBe(true)
})

/** Whether the first one has an outline or a border all around. */
const edges = (page: Page, selector: string): Promise<boolean> =>
  page.evaluate<boolean>(`(() => {
    const style = getComputedStyle(document.querySelector(${JSON.stringify(selector)}))
    const isSeen = (name) => style[name + 'Style'] !== 'none' && parseFloat(style[name + 'Width']) >= 1
    return isSeen('outline') || ['Top', 'Right', 'Bottom', 'Left'].every((side) => isSeen('border' + side))
  })()`)

test('in a low window the head of Messages is one sentence, and how much more needs attention', async () => {
  await using world = await filledWorld()
  await using opened = await openAsOperator(world, '/messages', { width: 720, height: 450 })
  const { page } = opened
  await page.locator('.row').first().waitFor()
  await page.route('**/v1/overview?*', async (route) => {
    const response = await route.fetch()
    const overview = (await response.json()) as object
    await route.fulfill({ response, json: { ...overview, destinations: [FAILING] } })
  })
  await page.reload()
  await page.getByRole('link', { name: /^and \d more$/ }).waitFor()
  expect(await page.getByRole('list', { name: 'Also needs attention' }).isVisible()).toBe(false)
  await expectAccessible(page)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('list', { name: 'Also needs attention' }).waitFor()
  expect(await page.getByRole('link', { name: /^and \d more$/ }).isVisible()).toBe(false)
})

test('in production an overview without messages has the button and the line that send the first text', async () => {
  await using world = await createWorld({ outside: true })
  await using opened = await openAsOperator(world, '/overview')
  const { page } = opened
  await page.getByText(/^curl -s .*\/v1\/sms\/send/).waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Write the first text' }).click()
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(new URL(page.url()).hash).toBe('#/conversations')
})

for (const width of [320, 390])
  test(`at ${width} pixels no phone number loses its last digits`, async () => {
    await using world = await filledWorld()
    await using opened = await openAsOperator(world, '/messages', { width, height: 700 })
    const { page } = opened
    for (const view of ['/overview', '/messages', '/conversations', PAIR, '/numbers']) {
      await page.evaluate(`location.hash = ${JSON.stringify(view)}`)
      await opened.quiet()
      expect([view, await page.evaluate<string[]>(CUT_NUMBERS)]).toEqual([view, []])
    }
  })

/** The numbers whose end is cut by their own box, by one around them or by the window. */
const CUT_NUMBERS = `[...document.querySelectorAll('.number')].flatMap((number) => {
  const { right, width } = number.getBoundingClientRect()
  const boxes = []
  for (let box = number; box !== null; box = box.parentElement) {
    // Read by screen readers alone.
    if (box.getBoundingClientRect().width <= 1) return []
    if (getComputedStyle(box).overflowX !== 'visible') boxes.push(box.getBoundingClientRect().right)
  }
  const end = document.createRange()
  end.selectNodeContents(number)
  const last = Math.max(right, end.getBoundingClientRect().right)
  return width > 1 && last > Math.min(innerWidth, ...boxes) + 1 ? [number.textContent] : []
})`

test('an invite link says until when it works', async () => {
  await using world = await createWorld({ outside: true, connect: false })
  await using opened = await openAsOperator(world, '/numbers')
  const { page } = opened
  await page.getByRole('button', { name: 'Make invite link' }).first().click()
  const ends = new Date(Date.now() + 7 * 86_400_000)
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' }).format(ends)
  await page
    .getByRole('dialog')
    .getByText(new RegExp(`It works once, until ${day} \\d\\d:\\d\\d\\.`))
    .waitFor()
})

test('a time in the search field is said as everywhere', async () => {
  await using world = await filledWorld()
  await using opened = await openAsOperator(world, '/messages?before=2026-11-20T10:00:00.123Z')
  const { page } = opened
  await page.locator('.chip', { hasText: /^before ?20 Nov \d\d:\d\d$/ }).waitFor()
})

test('the connection is a status of two: online and offline, and nothing else that changes', async () => {
  await using world = await filledWorld()
  await using opened = await openAsOperator(world, '/messages')
  const { page } = opened
  const status = page.locator('.rail .connection[role=status]')
  await status.getByText('Live').waitFor()
  await page.evaluate(`window.said = []; new MutationObserver(() => said.push(document.querySelector('.rail .connection').textContent))
    .observe(document.querySelector('.rail .connection'), { subtree: true, childList: true, characterData: true })`)
  for (let index = 0; index < 3; index++) await world.send({ body: `one more ${index}` })
  await page.locator('.row', { hasText: 'one more 2' }).waitFor()
  expect(await page.evaluate<string[]>('said')).toEqual([])
})

const FAILING = {
  url: 'https://shop.example/sms',
  kind: 'app',
  appId: 'app_1',
  success: 0,
  failed: 3,
  p95Ms: null,
  failingSince: new Date(Date.now() - 60_000).toISOString(),
  failures: 3,
  lastOutcome: 'http_error',
  lastStatusCode: 500,
  neverArrived: 0,
  neverArrivedSince: null,
}

/** Texts both ways, one of them failed, and an app whose webhook fails. */
async function filledWorld(): Promise<World> {
  const world = await createWorld({ outside: true })
  await world.send({ body: 'A reminder that is a little longer than a row on a phone has room for' })
  await world.send({ from: '+15555550999', body: 'from nowhere' })
  await world.control.injectSms({ from: TO, to: FROM, text: 'Thank you' })
  await world.control.injectSms({ from: '+447700900123', to: FROM, text: 'From afar' })
  const isThere = async (): Promise<boolean> =>
    (await world.json<{ total: number }>('GET', '/v1/sms/messages')).body.total === 4
  await until(isThere)
  return world
}
