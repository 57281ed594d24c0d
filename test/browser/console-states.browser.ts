import { beforeAll, expect, test } from 'bun:test'
import { type ConsolePage, expectAccessible, openView, show } from '../support/console.ts'
import { openScene, showWideFont } from '../support/scene-page.ts'
import { type Scene, type SceneName, createScene } from '../support/scenes.ts'
import { sharedByTests } from '../support/shared.ts'
import { until } from '../support/world.ts'

const FINE = /^All 3 numbers can send and receive\.$/
const FEW = /^1 of 7 failed in 24 hours\.$/
const MANY = /^140 of 2,630 failed in 24 hours, 129 the day before\.$/
const SOME_POSTED = /^The destination answers now; 167 of 665 attempts failed in 24 hours\.$/
const REVOKED = /^Extension 102 was revoked: \+15035550102 cannot send or receive\.$/

/** What each view says first in each state. */
const HEADINGS: readonly [scene: SceneName, headings: Readonly<Record<string, RegExp>>][] = [
  [
    'nothing',
    { overview: FINE, messages: /^No messages yet\.$/, webhooks: /^No webhooks in 24 hours\.$/, numbers: FINE },
  ],
  [
    'ten messages',
    {
      overview: FEW,
      messages: FEW,
      webhooks: /^The destination answers: 3 delivered in 24 hours, none failed\.$/,
      numbers: FINE,
    },
  ],
  ['100,000 messages', { overview: MANY, messages: MANY, webhooks: SOME_POSTED, numbers: FINE }],
  [
    'an incident',
    {
      overview: REVOKED,
      messages: REVOKED,
      webhooks: /^booking\.example answers 500: 9 deliveries never arrived since/,
      numbers: REVOKED,
    },
  ],
]

/** A day of traffic takes seconds to make, and the views only read it. */
const scenes = new Map<SceneName, () => Promise<Scene>>()
const pages = new Map<SceneName, () => Promise<ConsolePage>>()
for (const [name] of HEADINGS) {
  const scene = sharedByTests(async (stack) => stack.use(await createScene(name)))
  const looking = { hash: '#/overview', isWideFont: true, isBackupBehind: name === 'an incident' }
  scenes.set(name, scene)
  pages.set(
    name,
    sharedByTests(async (stack) => stack.use(await openScene(await scene(), looking))),
  )
}

// Its rows and figures take longer than a page of it.
beforeAll(() => shared(scenes, '100,000 messages'))

function shared<T>(things: ReadonlyMap<SceneName, () => Promise<T>>, name: SceneName): Promise<T> {
  const thing = things.get(name)
  if (thing === undefined) throw new Error(`No test shares “${name}”`)
  return thing()
}

interface Showing {
  width: number
  height: number
  theme?: 'light' | 'dark'
  isWideFont?: boolean
  view: string
}

/** The page of a scene in a situation. */
async function sharedPage(name: SceneName, { width, height, theme, isWideFont, view }: Showing): Promise<ConsolePage> {
  const opened = await shared(pages, name)
  await openView(opened.page, view)
  await showWideFont(opened.page, isWideFont ?? false)
  await show(opened.page, [width, height, theme ?? 'light'])
  return opened
}

const SIZES = [
  { width: 1440, height: 900, theme: 'light', isWideFont: true },
  { width: 390, height: 844, theme: 'dark' },
] as const

for (const [name, headings] of HEADINGS)
  for (const size of SIZES)
    test(`with ${name}, each view says so at ${size.width} px, fits, and axe finds nothing`, async () => {
      const { page, complaints } = await sharedPage(name, { ...size, view: '/overview' })
      for (const [view, heading] of Object.entries(headings)) {
        await openView(page, `/${view}`)
        // A count stands before it, as in "(5) Conversations".
        await until(async () =>
          (await page.title())
            .toLowerCase()
            .replace(/^\([^)]*\) /, '')
            .startsWith(view),
        )
        await page.locator('main h1', { hasText: heading }).first().waitFor()
        expect(await page.evaluate<string[]>(SPILLED)).toEqual([])
        await expectAccessible(page)
      }
      expect(complaints).toEqual([])
    })

const EVERY_VIEW =
  'overview overview?range=30d messages messages?state=failed conversations webhooks numbers apps tenants all'

for (const name of ['nothing', 'ten messages', 'an incident'] as const)
  for (const isWideFont of [false, true])
    test(`with ${name}${isWideFont ? ' in a wide font' : ''}, no view scrolls sideways on a phone, and no table cuts a name or a reason`, async () => {
      const { page, quiet } = await sharedPage(name, { width: 390, height: 844, view: '/overview', isWideFont })
      for (const view of EVERY_VIEW.split(' ')) {
        await page.evaluate(`location.hash = '#/${view}'`)
        await quiet()
        for (const width of [390, 340, 320]) {
          await page.setViewportSize({ width, height: 844 })
          expect([view, width, await page.evaluate<string[]>(TOO_WIDE)]).toEqual([view, width, []])
        }
      }
    })

/** What scrolls sideways, but for tabs and the names of the columns of tenants, and what stands beyond its section or its cell. */
const TOO_WIDE = `[...document.querySelectorAll('html, main, main *, .tab-bar')]
  .filter((element) => element.checkVisibility() && !element.matches('.segmented, .tenants thead tr, .hidden'))
  .filter((element) => {
    const { overflowX } = getComputedStyle(element)
    const isSpilled = element.scrollWidth > element.clientWidth && element.clientWidth > 0
    const isBeyond = element.matches('table') && element.getBoundingClientRect().right > element.parentElement.getBoundingClientRect().right + 0.5
    return isBeyond || (isSpilled && (/auto|scroll/.test(overflowX) || element.matches('html, .overview table:not(.tenants) td')))
  })
  .map((element) => element.tagName + '.' + element.className + ' ' + element.textContent.slice(0, 60))`

test('in production an empty list of attempts offers nothing that only the simulator can do, and no tab counts nothing', async () => {
  const { page } = await sharedPage('nothing', { width: 1440, height: 900, view: '/webhooks' })
  await page.getByText('Text one of your numbers to see one.').waitFor()
  expect(await page.locator('main').textContent()).not.toContain('simulate')
  expect(await page.locator('.tabs [aria-current]').textContent()).toBe('All')
  await page.evaluate(`location.hash = '#/messages'`)
  await page.getByRole('heading', { name: 'No messages yet.' }).waitFor()
  expect(await page.locator('.tabs [aria-current]').textContent()).toBe('All')
})

test('on a phone everything that needs attention in Messages is in sight, and five rows are', async () => {
  const scene = await shared(scenes, 'an incident')
  await using opened = await openScene(scene, { width: 390, height: 844, hash: '#/messages' })
  const { page } = opened
  const facts = page.getByRole('list', { name: 'Also needs attention' })
  expect(await facts.getByRole('listitem').count()).toBe(3)
  expect(await facts.locator('.button:visible').count()).toBe(0)
  expect(await facts.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBe(0)
  const rows = await page.locator('.rows').boundingBox()
  expect(rows?.height).toBeGreaterThanOrEqual(5 * 60)
})

test('at 1024 px the figures of an incident leave no hole between them', async () => {
  const { page } = await sharedPage('an incident', { width: 1024, height: 768, view: '/overview' })
  await page.locator('.figure').first().waitFor()
  const boxes = await Promise.all((await page.locator('.figure').all()).map((figure) => figure.boundingBox()))
  const between = await page.evaluate<number>(
    "parseFloat(getComputedStyle(document.querySelector('.figures')).columnGap)",
  )
  expect(between).toBeLessThanOrEqual(16)
  const starts = boxes.map((box, index) => {
    const before = boxes[index - 1]
    return before && box && before.y === box.y
      ? box.x - before.x - before.width - between
      : (box?.x ?? NaN) - (boxes[0]?.x ?? NaN)
  })
  expect(starts.every((gap) => Math.abs(gap) < 1)).toBe(true)
})

test('in an incident everything that is wrong stands under the sentence with its button, and the rail counts it', async () => {
  const { page } = await sharedPage('an incident', { width: 1440, height: 900, view: '/overview' })
  await page.locator('.overview-acts').waitFor()
  expect(await page.locator('.overview-acts .primary').allTextContents()).toEqual(['Authorize again'])
  const counts = await page.locator('.rail-count').allTextContents()
  expect(counts).toEqual(['17 waiting', '14 to answer', '9 never arrived', '1 cannot send'])
  const needs = page.locator('.needs li')
  expect(await needs.locator('.need-what').allTextContents()).toEqual([
    '17 messages wait: RingCentral paused extension 101 until 14:30:08.',
    'booking.example answers 500: 9 deliveries never arrived.',
    '5 of 292 failed in 24 hours; 8 not delivered.',
    'The backup is 3 h behind.',
  ])
  expect(await needs.filter({ has: page.locator('.button') }).count()).toBe(4)
})

for (const view of ['overview', 'messages', 'webhooks', 'numbers'])
  test(`offline, ${view} keeps what was known and says since when`, async () => {
    const scene = await shared(scenes, 'ten messages')
    await using opened = await openScene(scene, { width: 390, height: 844, hash: `#/${view}`, isOffline: true })
    const { page } = opened
    await page.locator('.offline-bar', { hasText: 'Offline since 14:26:08.' }).waitFor()
    expect(await page.locator('main h1').first().textContent()).toMatch(/\.$/)
    expect(await page.evaluate<string[]>(SPILLED)).toEqual([])
    await expectAccessible(page)
  })

/** What does not fit: the page that scrolls sideways, and words of a control or a measure that take two lines. */
const SPILLED = `[
  ...(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ['the page'] : []),
  ...[...document.querySelectorAll('.button, .tabs button, .measure, .rail-item, .tab-bar > *')]
    .filter((element) => element.checkVisibility())
    .filter((element) => {
      const words = document.createRange()
      words.selectNodeContents(element.querySelector('.label') ?? element)
      return words.getBoundingClientRect().height > (element.matches('.tab-bar > *') ? 44 : 32)
    })
    .map((element) => element.textContent),
]`
