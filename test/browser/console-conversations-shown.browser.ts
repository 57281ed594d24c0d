import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { Sgw } from '../../src/client/client.ts'
import { SIZES, expectAccessible, firstLoad, openConsole, openView, show } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { expectAccessibleContrast } from '../support/contrast.ts'
import { sharedByTests } from '../support/shared.ts'
import { FROM, TO, type World, createWorld } from '../support/world.ts'

/** Of bench/README.md. */
const MAX_REQUESTS = 10
/** Who it is, the socket's token, the list, the messages, and the opt-out with the policy. */
const MAX_CALLS = 5
const ARABIC =
  'مرحبا، موعدك يوم الثلاثاء الساعة 14:30 في العيادة. أجب بكلمة نعم للتأكيد أو بكلمة لا لتغيير الموعد، وإلى اللقاء قريبا'
const PAIR = `/conversations?${new URLSearchParams({ number: FROM, contact: TO }).toString()}`

test('Conversations is the third view for an operator in production and for an app’s key, and Phone beside the simulator', async () => {
  await using real = await createWorld({ outside: true })
  await using simulated = await createWorld()
  const names = async (page: Page, place: string) => page.locator(`${place} a`).allTextContents()
  for (const open of [
    () => openAsOperator(real, '/conversations'),
    () => openConsole(real.url, { key: real.key, hash: '#/conversations' }),
    () => openConsole(simulated.url, { key: simulated.key, hash: '#/phone' }),
  ]) {
    await using opened = await open()
    const { page, requests } = opened
    await page.getByRole('heading', { name: 'No conversations yet.' }).waitFor()
    await opened.quiet()
    expect((await names(page, '.rail'))[2]).toBe('Conversations')
    for (const name of ['phone.js', 'trace.js']) expect(requests).not.toContain(`GET /console/${name}`)
    expect(requests.filter((request) => request.includes('/simulator/'))).toEqual([])
  }
  await using opened = await openConsole(simulated.url, { width: 390, height: 844 })
  const { page } = opened
  await page.getByRole('heading', { name: 'This phone is simulated.' }).waitFor()
  expect(new URL(page.url()).hash).toBe('#/conversations')
  expect(await names(page, '.tab-bar')).toEqual(['Overview', 'Messages', 'Phone', 'Webhooks'])
})

test('with a conversation open a first load takes few requests, and none while nothing happens', async () => {
  await using world = await createWorld({ outside: true })
  await world.untilStatus(await world.send({ body: 'quiet' }))
  await using opened = await openAsOperator(world, PAIR, { clock: 'moves' })
  const { page, requests } = opened
  await page.locator('.said-note', { hasText: 'sent in' }).waitFor()
  await opened.quiet()
  requests.length = 0
  await page.reload()
  await page.locator('.said', { hasText: 'quiet' }).waitFor()
  await opened.quiet()
  expect(firstLoad(requests).length, requests.join('\n')).toBeLessThanOrEqual(MAX_REQUESTS)
  requests.length = 0
  await page.clock.install()
  await page.clock.runFor(60_000)
  expect(requests).toEqual([])
  // An app's key shares its limit with the app, so calls of the API are few also where the contact has opted out, which takes most.
  await new Sgw({ baseUrl: world.url, apiKey: world.key }).optOuts.set({ number: FROM, contact: TO, optedOut: true })
  await using own = await openConsole(world.url, { key: world.key, hash: `#${PAIR}` })
  await own.page.getByText('Texts to this contact are still sent').waitFor()
  await own.quiet()
  const calls = firstLoad(own.requests).filter((request) => request.includes(' /v1/'))
  expect(calls.length, calls.join('\n')).toBeLessThanOrEqual(MAX_CALLS)
})

const filled = sharedByTests(async (stack) => {
  const world = stack.use(await createWorld({ outside: true }))
  await fill(world)
  return { world, ...stack.use(await openAsOperator(world, '/conversations')) }
})

for (const [width, height, theme] of SIZES)
  test(`at ${width} × ${height} in ${theme} nothing scrolls sideways, each text has enough contrast, and axe finds nothing`, async () => {
    const { page, complaints } = await filled()
    await show(page, [width, height, theme])
    await openView(page, '/conversations')
    await page.locator('.row', { hasText: 'opted out' }).waitFor()
    await expectFits(page)
    await page.locator('.row', { hasText: 'The last one' }).click()
    await page.getByRole('region', { name: 'Opt-out' }).waitFor()
    await page.locator('.said-note.bad').first().waitFor()
    await page.locator('.said-note', { hasText: 'goes out' }).waitFor()
    await page.getByLabel('Write a text').fill(ARABIC)
    await page.getByText(/UCS-2 because of/).waitFor()
    await page.getByRole('button', { name: 'Send later…' }).click()
    await expectFits(page)
    if (width < 700) await expectTargets(page)
    // A part of the text and all of the field can be seen.
    expect(await page.locator('.thread').evaluate(({ clientHeight }) => clientHeight)).toBeGreaterThan(40)
    expect(await page.getByRole('button', { name: 'Schedule' }).isVisible()).toBe(true)
    expect(complaints).toEqual([])
  })

test('on a phone the thread is a page of its own, from which one goes back to the list', async () => {
  await using world = await createWorld({ outside: true })
  await fill(world)
  await using opened = await openAsOperator(world, '/conversations', { width: 390, height: 844 })
  const { page } = opened
  await page.locator('.row', { hasText: 'The last one' }).click()
  await page.getByRole('heading', { name: TO }).and(page.locator('[aria-level="1"]')).waitFor()
  expect(await page.locator('.list').isVisible()).toBe(false)
  await page.getByRole('button', { name: 'Back to the list' }).click()
  await page.locator('.row', { hasText: 'The last one' }).waitFor()
  expect(await page.evaluate<string>('document.activeElement.dataset.id')).toBe(`${FROM} ${TO}`)
  await page.goto(`${new URL(page.url()).origin}/console/#${PAIR}`)
  await page.reload()
  await page.getByRole('heading', { name: TO }).waitFor()
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
})

test('a tenant without a number is told how to connect one', async () => {
  await using world = await createWorld({ outside: true, connect: false })
  await using opened = await openAsOperator(world, '/conversations')
  const { page, complaints } = opened
  await page.getByRole('heading', { name: 'No number is connected yet.' }).waitFor()
  await page.getByText('The owner of a RingCentral extension connects it').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Make invite link' }).click()
  await page.getByRole('dialog', { name: 'Invite link' }).locator('.mono', { hasText: '/v1/rc/' }).waitFor()
  expect(complaints).toEqual([])
})

test('in privacy mode texts are bars and numbers keep their ends, in the list, in the thread and in menus', async () => {
  await using world = await createWorld({ outside: true })
  await fill(world)
  await using opened = await openAsOperator(world, PAIR)
  const { page } = opened
  await page.locator('.said', { hasText: 'The last one' }).waitFor()
  await page.keyboard.press('p')
  await page.locator('html.private').waitFor()
  const seen = `[...document.querySelectorAll('main *')]
    .filter((each) => getComputedStyle(each).color !== 'rgba(0, 0, 0, 0)')
    .flatMap((each) => [...each.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data)).join(' ')`
  const text = await page.evaluate<string>(seen)
  expect(text).not.toContain('The last one')
  expect(text).not.toContain('مرحبا')
  expect(text.replaceAll(' ', '')).not.toContain('5555550199')
  await page.getByRole('button', { name: /^Number/ }).click()
  await page.getByRole('menuitemradio', { name: '+1 ··· 00' }).waitFor()
})

test('printed, the open conversation stands alone, black on white', async () => {
  await using world = await createWorld({ outside: true })
  await fill(world)
  await using opened = await openAsOperator(world, PAIR, { theme: 'dark' })
  const { page } = opened
  await page.locator('.said', { hasText: 'The last one' }).waitFor()
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  expect(await page.locator('.said', { hasText: 'The last one' }).isVisible()).toBe(true)
  expect(await page.locator('.said', { hasText: 'text 0 of' }).isVisible()).toBe(true)
  for (const away of ['.list', '.composer', '.rail', '.conversation button'])
    expect([away, await page.locator(away).first().isVisible()]).toEqual([away, false])
  const colour = "getComputedStyle(document.querySelector('.conversation h2')).color"
  expect(await page.evaluate<string>(colour)).toBe('rgb(0, 0, 0)')
})

test('while somebody reads further down, no row moves; the day says how many are new', async () => {
  await using world = await createWorld({ outside: true })
  const contacts = Array.from({ length: 70 }, (_, index) => `+1555555${1000 + index}`)
  await Promise.all(contacts.map((to, index) => world.send({ to, body: `text ${index}.` })))
  await using opened = await openAsOperator(world, '/conversations')
  const { page } = opened
  await page.getByText('50 of 70 loaded, more as you scroll').waitFor()
  await page.getByRole('heading', { name: '70 conversations, none needs your answer.' }).waitFor()
  const scroll = (top: number) => page.locator('.rows').evaluate((rows, to) => rows.scrollTo({ top: to }), top)
  await scroll(100_000)
  await page.getByText('All 70 loaded').waitFor()
  await scroll(800)
  const atPointer = `document.elementFromPoint(700, 500).closest('.row').dataset.id`
  const before = await page.evaluate<string>(atPointer)
  // Its own conversation has a new text, and one more starts.
  await world.send({ to: before.split(' ')[1] ?? '', body: 'again' })
  await world.send({ to: TO, body: 'somebody new' })
  await page.getByRole('button', { name: '2 new' }).waitFor()
  expect(await page.evaluate<string>(atPointer)).toBe(before)
  await page.getByRole('button', { name: '2 new' }).click()
  await page.locator('.row', { hasText: 'somebody new' }).waitFor()
  const texts = await page.locator('.row .text').allTextContents()
  // The provider's limit lets them wait, which their rows say.
  expect(texts.slice(0, 2)).toEqual([expect.stringMatching(/^somebody new/), expect.stringMatching(/^again/)])
  expect(new Set(texts).size).toBe(texts.length)
})

async function expectFits(page: Page): Promise<void> {
  expect(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')).toBe(0)
  await expectAccessibleContrast(page)
}

/** What is pressed is at least 40 pixels high. */
async function expectTargets(page: Page): Promise<void> {
  const small = `[...document.querySelectorAll('.conversation :is(button, a, input, textarea)')]
    .filter((each) => each.checkVisibility() && each.getBoundingClientRect().height < 40)
    .map((each) => each.outerHTML)`
  expect(await page.evaluate<string[]>(small)).toEqual([])
}

/** A conversation with everything: a text that failed, a scheduled one, a right-to-left one, an opt-out; and others beside it. */
async function fill(world: World): Promise<void> {
  const sgw = new Sgw({ baseUrl: world.url, apiKey: world.key })
  for (let index = 0; index < 12; index++) {
    const to = index < 4 ? TO : `+155555502${10 + index}`
    await world.untilStatus(await world.send({ body: `text ${index} of a conversation`, to }))
  }
  await world.untilStatus(await world.send({ body: ARABIC }))
  world.control.planNextSms({ messageStatus: 'DeliveryFailed', deliveryErrorCode: 'SMS-CAR-430' })
  await world.untilStatus(await world.send({ body: 'This is refused as spam' }))
  await sgw.optOuts.set({ number: FROM, contact: TO, optedOut: true })
  await sgw.optOuts.setPolicy('block')
  await world.untilStatus(await world.send({ body: 'This one is blocked' }))
  await world.send({ body: 'The last one', sendAt: new Date(Date.now() + 3_600_000).toISOString() })
}
